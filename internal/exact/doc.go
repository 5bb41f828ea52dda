// Package exact has statistics of numbers that depend on the numbers alone: not on their order, on how they are divided, on the memory or the number of
// goroutines. Sums are exact and rounded once, and order statistics are of all numbers.
package exact
