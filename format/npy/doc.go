// Package npy reads and writes the headers of NumPy's .npy files (versions 1.0
// to 3.0), and nothing behind them: arrays are read as views of a memory map or
// by offset, and written as raw little-endian bytes.
//
// Object arrays (pickles), structured, Fortran-ordered (unless one-dimensional)
// and big-endian arrays are refused with an error that says so. A header never
// makes the reader allocate more than its own length.
//
// The package imports the standard library only.
package npy
