// Package records makes a collection out of TFRecords of GraphTensors.
//
//	files, err := records.Files(vfs.OS, []string{"samples.tfrecord@8"})
//	w, err := store.Create(vfs.OS, out, false)
//	defer w.Abort()
//	result, err := records.Import(ctx, vfs.OS, w, files, records.Options{Schema: schema})
//	err = w.Seal(ctx, result.Meta, threads)
//	err = w.Publish()
//
// One goroutine reads the records of all files, in order, several decode them by
// example.Codec, and the caller's writes. So the collection does not depend on the
// number of threads or the memory budget, and memory is bounded by a few chunks of
// records a thread.
//
// # What becomes of a GraphTensor
//
// A record is a graph. Its node sets are node types and its edge sets edge types
// source:set:target, named by feature.TypeName and feature.EdgeType; its features
// are columns of the schema's dtypes and shapes, those of its context columns of the
// collection's context, one row a component. Sets without features, and those that
// are empty everywhere, are kept. component_ptr is there where some graph has
// another number of components than one. The schema itself is kept, with all its
// fields, as the file of Meta.Schema.
//
// An Example can say one thing in several ways: a key without values omitted or
// with an empty list. example_form keeps how, so that package export writes the
// same bytes again, provided that the keys of the Example were in byte order. It
// is there only where some Example was not written in the shortest way.
//
// # What does not come back
//
// Nothing is changed silently. Keys that the schema does not have are dropped,
// counted and named. Values of a half or bfloat16 feature that it cannot hold are
// rounded, as TF-GNN's parser rounds them, and counted. What a lenient decoder
// repairs is counted. All are in the Result.
//
// Errors name the file, the record, from 0, and the byte offset of its frame.
//
// The package imports store, graph/feature, format/example and what lies below
// them.
package records
