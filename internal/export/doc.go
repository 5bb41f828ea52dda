// Package export writes what is in a collection in the formats of others: TFRecords
// of GraphTensors, beside their schema.
//
//	w, err := store.Create(fsys, out, force)
//	defer w.Abort()
//	result, err := export.TFRecords(ctx, fsys, w, collection, export.Options{Shards: 8})
//	err = w.WriteMade(made)
//	err = w.Seal(ctx, nil, threads)
//	err = w.Publish()
//
// One Example is one graph, in order. Several goroutines encode, the caller's
// writes, so that the bytes do not depend on the number of threads.
//
// A collection that was imported from TFRecords has the schema that it was read
// with and how each Example was written, and gives the same Examples again: equal as
// TF-GNN parses them, with the keys in byte order, and equal in every byte where they
// were in that order before. Where there is no schema one is made: node sets are
// named as node types, edge sets as relations, and the columns are the features.
//
// A collection that was sampled has its features by reference. With the store that
// it was sampled from they are joined, and the Examples are those of sample
// --format tfrecord, to the byte; without it they hold what the collection holds.
//
// Arrays are checked before they are followed. Whatever the collection holds that
// the Examples do not is named in the result.
//
// The package imports sample/output (how subgraphs are written), store/shards and
// what lies below them.
package export
