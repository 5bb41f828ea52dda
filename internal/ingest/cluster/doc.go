// Package cluster imports a graph in processes on several machines, with any engine that runs the tasks of stages (package
// stages). The store has the bytes that assemble.Build writes, because the functions that read rows, sort
// edges and lay out arrays are the same (assemble.Share).
//
// # The parts of a run
//
// The submitter (Run) divides the tables into parts (table.Divide) and plans the work. Workers read parts and leave
// pieces of the store in the work folder, which lies next to the output on storage that all machines reach at the same
// paths. The submitter joins the pieces into the store, in order, so that the store has one writer, the same as in every
// other run. A Site is the work on one machine: the functions that an engine calls.
//
// # The jobs
//
// Measure counts the rows of each part of a text table: then the number of each row is known before it is read. Look
// finds out which integer ids are row numbers, and numbers of nodes that follow from the largest id. The submitter does both
// itself for small tables. Build makes the pieces, in stages (package stages):
//
//	scan    a part      reads the keys of nodes, and the distinct keys that its edges name; writes the rows of nodes
//	match   a bucket    answers, for keys with a hash in a range, which node has each key; writes their part of the index
//	number  a part      writes which keys it names first, if edges add nodes: these are numbered in that order
//	edges   a part      makes the records of its edges, by range of the primary end
//	sort    a range     sorts them, writes its piece, and gives them to the range of the other end
//	other   a range     sorts these, and writes the piece of the other direction
//
// A part sends each distinct key once. So a key that many edges name costs a bucket one record per part, and keys are
// compared in full.
//
// # Memory
//
// The submitter scans the tables of columns of categories before the jobs (ingest.Source.Collect), and each worker holds
// all categories.
//
// A worker holds the keys of a part, of a bucket, or some megabytes of the edges of a range; a range that is larger, also
// one of a single node, goes to a temporary file in the work folder. Where edges add nodes, each worker holds a bit and a
// half per distinct key of each part.
//
// # Faults
//
// A task may run twice at the same time, also on two machines. All functions are pure, and a file gets
// its name when it is whole. A stage reads files of earlier stages only. The text of an error is saved
// for the submitter, which ends the job where trying again cannot help. Of several bad rows the error names one, not always
// the first.
package cluster
