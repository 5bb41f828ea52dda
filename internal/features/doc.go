// Package features makes features of columns: it fits them on some rows, and applies them to all. Its law is the executable reference in
// testdata/reference: what is fitted depends on the values of the rows alone, not on their order or on how they are divided among threads or files.
package features
