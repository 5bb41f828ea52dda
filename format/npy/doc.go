// Package npy reads and writes the headers of NumPy's .npy files (versions 1.0 to 3.0), and only the headers. The
// data after a header are raw little-endian values, which callers map, read by offset, or write themselves.
//
// Object arrays (pickles) and structured arrays are refused with an error that names the reason, and Read also refuses
// big-endian arrays and Fortran-ordered arrays of more than one dimension, which ReadLayout describes. A header never makes the reader allocate more than its own length.
package npy
