// Package vector adds multiples of vectors of float64 to a vector, and sums rows of vectors that lie beside each other, with vector
// instructions where the processor has those that it uses.
//
// Results are the same to the bit on all machines: each product and each sum is rounded, in the order of the arguments,
// and never fused.
package vector
