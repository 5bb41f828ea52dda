// Package verifying compares an output folder with its manifest, with the graph that it was made from, or with what is sampled anew.
package verifying
