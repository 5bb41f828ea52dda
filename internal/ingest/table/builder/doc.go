// Package builder collects the values of the columns of a chunk: from the text of cells, or from values that a file stores with
// another dtype. The tables of all kinds of files build their chunks with it.
package builder
