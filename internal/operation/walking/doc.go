// Package walking makes random walks over a store, or counts of the nodes that they visit.
package walking
