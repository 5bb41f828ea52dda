// Package batch iterates over rows, and over groups of rows, in batches.
//
//	it, err := batch.New(columns, batch.Options{Size: 64, Seed: 42})
//	for b, err := range it.All(ctx) { // epoch 0; the next call takes epoch 1
//		...                            // b.Columns hold 64 rows each
//	}
//
// New takes any number of columns with the same number of rows: typed arrays (Column) or the memory maps of a store.
// NewGroups keeps the rows of a group together and in order. A batch is then a number of groups, or as many groups as
// fit a number of rows.
//
// # Order
//
// The order of an epoch is addressable: an Order gives the item at any position, as a pure function of (seed, epoch).
// So any batch can be made on its own, a rank takes every Ranks-th batch, and resuming costs nothing. Shuffled is the
// order of package draw, which the Python client follows, too. Weighted, Stratified, Windowed and Bucketed are laws of
// this package. testdata/reference/orders.py is their executable definition.
//
// # Exact and explicit
//
// Len is exact. Every rank gets the same number of batches, unless Tail is Short: trainers that wait for each other at
// every step would hang otherwise. The user decides what happens to the batch that the rows do not fill (Tail). A State
// is the position of an iteration. An iterator over other data or with other options refuses it.
//
// # Ownership and memory
//
// A Batch is valid until the next one is requested, because its arrays are reused. Goroutines fill batches in advance,
// in chunks of about a quarter of a MiB or one batch, and 2*Threads+1 chunks at a time. All ends these goroutines
// before it returns, also when the loop ends early.
package batch
