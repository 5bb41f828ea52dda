// Package batch iterates over rows, and over groups of rows, in batches.
//
//	it, err := batch.New(columns, batch.Options{Size: 64, Seed: 42})
//	for b, err := range it.All(ctx) { // epoch 0; the next call walks epoch 1
//		...                            // b.Columns hold 64 rows each
//	}
//
// New takes any number of columns with the same rows: typed arrays (Column) or the
// memory maps of a store. NewGroups keeps the rows of a group together and in order; a
// batch is then so many groups, or as many as fit so many rows.
//
// # Order
//
// The order of an epoch is addressable: an Order says which item is at any
// position, as a pure function of (seed, epoch), so that any batch can be made on
// its own, a rank takes every Ranks-th one and resuming costs nothing. Shuffled is
// the order of package draw, which the Python client follows too; Weighted, Stratified, Windowed
// and Bucketed are laws of this package, written down as an executable definition in
// testdata/reference/orders.py.
//
// # Nothing silent
//
// Len is exact. Every rank gets as many batches, unless Tail is Short: trainers that wait for each other
// at every step would hang otherwise. What happens to the batch that the rows do not fill is the user's word (Tail).
// A State holds where an iteration stands, and is refused by an iterator over other data or
// with other options.
//
// # Ownership and memory
//
// A Batch is valid until the next one is asked for: its arrays are reused. Goroutines
// fill batches ahead, in chunks of about a quarter of a MiB or one batch, 2*Threads+1 chunks
// at once. All ends them before it returns, also when the loop is left early.
//
// The package imports draw, graph, internal/ordered, zeebo/xxh3 and golang.org/x/sys.
package batch
