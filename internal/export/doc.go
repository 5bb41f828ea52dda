// Package export writes the content of a collection in formats of other programs: TFRecords of GraphTensors with
// their schema.
//
//	w, err := store.Create(fsys, out, force)
//	defer w.Abort()
//	result, err := export.TFRecords(ctx, fsys, w, collection, export.Options{Shards: 8})
//	err = w.WriteMade(made)
//	err = w.Seal(ctx, nil, threads)
//	err = w.Publish()
//
// Each Example is one graph; Examples are in the order of the graphs. Several goroutines encode and the caller's
// goroutine writes, so that the bytes do not depend on the number of threads.
//
// A collection that was imported from TFRecords has the schema that it was read with, and a record of how each
// Example was written. It gives the same Examples again: equal as TF-GNN parses them, with sorted keys, and equal in
// every byte if the keys were sorted before. If a collection has no schema, one is made: node sets have the names of
// node types, edge sets the names of relations, and columns become features.
//
// A collection that was sampled has its features by reference. Together with the store that it was sampled from, the
// features are joined, and the Examples have the bytes that sampling to TFRecords gives. Without the store, the
// Examples contain only what the collection contains.
//
// Arrays are checked before they are used as indices. Everything in the collection that the Examples do not contain
// is named in the result.
package export
