// Package output writes sampled subgraphs to files: as TFRecords in TF-GNN's encoding (Records), or as a collection,
// the store of many graphs (Collection).
//
// Both write into the folder of a store.Writer, with one Run per job:
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
// After store.Writer.Begin, a Run makes checkpoints between batches. Where the writer resumes from a checkpoint, the
// same calls leave out the batches that the checkpoint has, and the bytes and counts are the same as in an uninterrupted run.
// Batches are numbered over all jobs, and no draw depends on an earlier one. So a checkpoint is little more than the
// number of batches and the lengths of the files. A gzip member never extends over a checkpoint.
//
// The workers of sample.Run encode into buffers that are reused. The goroutine of the caller writes, in the order of
// the batches. So the bytes do not depend on the number of threads, the memory is bounded by a few batches per thread,
// and nothing is allocated per subgraph once the buffers have grown.
//
// # Elsewhere
//
// Other processes make the subgraphs as pieces (Pieces): files of the encoded batches of a group, whose sections are read and checked one by one. One process joins them, as a Run does (Elsewhere.Make); or
// several write the output, each a share of it (Pieces.WriteShare), and a Run links their files (Elsewhere.Write). A share of a collection is a store.Share of its arrays: it reads the sections of pieces that
// its shards have, and skips all others by their lengths. A share of TFRecords is some of the files.
//
// An output has the node types that the plan reaches and the edge types that it draws from. All others would be empty
// in every subgraph.
//
// # Names in TFRecords
//
// A node set has the name of its node type, except that "_N" becomes "node", because TF-GNN skips sets with names that
// start with an underscore. An edge set has the name of its relation where no other edge type of the output has that
// relation, else "src_rel_dst"; "_E" becomes "edge". Two sets with one name are an error.
//
// # Contents of an Example
//
// An Example is one subgraph: of a seed under scope seed, of a batch otherwise. Under scope seed it may have the
// subgraphs of several seeds as its components. Seeds are the first nodes of their set. Where there may be several,
// context/num_seeds is their number. Edges keep their stored source and target, also where the plan walked them against
// their direction. All columns are joined, with their own names and types, except #input_position and
// sample.OnesColumn. With RecordsOptions.IDs the original ids are added as #id. A context of one row goes into every
// Example. A set that is empty in a subgraph is left out of its Example, as TF-GNN's parser expects. Link seeds become
// TF-GNN's readout sets. Compat selects how TF-GNN's own samplers write the same subgraph. docs/format-tfrecord.md
// describes every key.
//
// # Contents of a collection
//
// docs/format-collection.md describes every array. Columns are not copied: node_id and edge_id lead to them.
package output
