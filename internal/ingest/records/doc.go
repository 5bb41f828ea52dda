// Package records makes a collection from TFRecords of GraphTensors.
//
//	files, err := records.Files(vfs.OS, []string{"samples.tfrecord@8"})
//	w, err := store.Create(vfs.OS, out, false)
//	defer w.Abort()
//	result, err := records.Import(ctx, vfs.OS, w, files, records.Options{Schema: schema})
//	err = w.Seal(ctx, result.Meta, threads)
//	err = w.Publish()
//
// One goroutine reads the records of all files in order, several decode them with example.Codec, and the caller's
// goroutine writes them. The collection depends neither on the number of threads nor on the memory budget, and memory
// is bounded by a few chunks of records per thread.
//
// # What becomes of a GraphTensor
//
// A record is a graph. Its node sets become node types, and its edge sets become edge types source:set:target, named
// by feature.TypeName and feature.EdgeType. Its features become columns with the schema's dtypes and shapes. Those of
// its context become columns of the collection's context, with one row per component. Sets without features, and sets
// that are empty in all graphs, are kept. component_ptr exists if some graph does not have exactly one component. The
// schema itself, with all its fields, is kept as the file of Meta.Schema.
//
// An Example can express the same graph in several ways: a key without values can be omitted or have an empty list.
// example_form records the way, so that package export writes the same bytes again if the keys of the Example were
// sorted. It exists only if some Example was not written in the shortest form.
//
// # What is lost
//
// No change is silent; the Result lists all. Keys that the schema does not have are dropped, counted and named.
// Values that a half or bfloat16 feature cannot hold are rounded, as TF-GNN's parser rounds them, and counted. The
// records that a lenient decoder repairs are counted.
//
// Errors name the file, the record (from 0), and the byte offset of its frame.
package records
