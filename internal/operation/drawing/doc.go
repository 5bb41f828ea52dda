// Package drawing draws one subgraph, or a small store, as a picture.
package drawing
