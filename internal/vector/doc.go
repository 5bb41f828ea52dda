// Package vector adds multiples of vectors of float64 to a vector, with the vector
// instructions of the processor where it knows them.
//
// Results are the same to the bit everywhere: products and sums are rounded each,
// in the order of the arguments, never fused.
//
// The package imports the standard library and golang.org/x/sys/cpu.
package vector
