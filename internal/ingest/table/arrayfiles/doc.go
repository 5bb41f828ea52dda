// Package arrayfiles reads tables of arrays, and of sparse matrices and chunks of edges that are stored like arrays.
//
// OpenNpy makes a table from arrays with equal first dimensions, one column per array. A column of strings or lists is an
// array of bytes or values with arrays of offsets: see Lists. OpenPairs reads the ends of
// edges from one array, OpenCSC from an index pointer and indices. OpenRaw makes a table from data that other files
// store like arrays, in one piece or in several.
package arrayfiles
