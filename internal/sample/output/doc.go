// Package output writes sampled subgraphs to files: TFRecords in TF-GNN's encoding
// (Records) or a collection, the store of many graphs (Collection).
//
// Both write into the folder of a store.Writer, one Run a job:
//
//	w, err := store.Create(fsys, out, force) // or store.Continue, and w.Begin
//	defer w.Abort()
//	n := output.Examples(s, job, 1)
//	r, err := output.NewRecords(w, s, output.RecordsOptions{Shards: 8, Examples: n})
//	defer r.Close()
//	stats, err := r.Run(ctx, job)
//	err = r.Finish(made)
//	err = w.Seal(ctx, nil, threads)
//	err = w.Publish()
//
// After store.Writer.Begin a Run makes checkpoints between batches. Where the writer
// goes on with one, the same calls leave out the batches that it has, and the bytes and
// counts are those of an output that was made at once. Batches are numbered over all
// jobs, and draws depend on nothing that came before, so the checkpoint is little more
// than their number and the lengths of the files; a gzip member never spans it.
//
// The workers of sample.Run encode, each into buffers that are handed around; the
// goroutine of the caller writes, in the order of the batches. So the bytes do not
// depend on the number of threads, memory is bounded by a few batches a thread,
// and nothing is allocated a subgraph in steady state.
//
// An output has the node types that the plan reaches and the edge types that it
// draws from. Others would be empty in every subgraph.
//
// # Names in TFRecords
//
// A node set is named as its node type, but "_N" is "node": TF-GNN passes over
// sets whose names start with an underscore. An edge set is named by its relation
// where no other edge type of the output has it, else "src_rel_dst"; "_E" is
// "edge". Two sets with one name are an error.
//
// # What is in an Example
//
// One Example is one subgraph: that of a seed under scope seed, that of a batch
// otherwise; or the subgraphs of several seeds as its components. Seeds are the first nodes of their set; where there may be several,
// context/num_seeds says how many. Edges keep their stored source and target,
// also where they were walked against their direction. All columns are joined, by
// their own names and types, but for #input_position and sample.OnesColumn; with
// RecordsOptions.IDs the original ids too, as #id. A context of one row goes into
// every Example. A set that is empty in a subgraph is left out of its Example, which
// TF-GNN's parser expects. Link seeds become TF-GNN's readout sets. Compat tells how
// TF-GNN's own samplers write the same subgraph; docs/format-tfrecord.md has it key
// by key.
//
// # What is in a collection
//
// docs/format-collection.md gives every array. Columns are not copied: node_id and
// edge_id lead to them.
//
// The package imports sample, store, report and what lies below them.
package output
