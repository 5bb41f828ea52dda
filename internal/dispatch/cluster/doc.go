// Package cluster makes the parts of a graph in processes on several machines, with any engine that runs the tasks of stages
// (package stages). Each file has the bytes that dispatch.Plan.Run writes.
//
// # The parts of a run
//
//   - The submitter (Run) numbers the nodes and edges from the assignment and the offsets of the store (dispatch.Count). It saves
//     the work (Work), the assignment and the numbers in a folder that all workers can read and write.
//   - A Site is the work on one machine: the store, mapped, and the functions that an engine calls.
//   - When the parts are there, the submitter links them into the output, and writes the configuration and the manifest.
//
// # Stages
//
//	cut     a segment   reads consecutive nodes, the edges into them and their columns, and gives records for parts
//	gather  a part      writes the records to the files of the part
//	finish  a part      finds the halo, writes the graph of the part, and the checksums of its files
//
// With more than one hop, finish reads the edges of halo nodes from the lists that other parts gathered.
//
// # Memory
//
// A worker maps 6 bytes per node of the graph: the part and the new id of each node. To cut, it holds about 150 KiB per part. To
// gather, it holds one record, and the records that package stages sorts. To finish a part it holds 4 bytes per edge that the part owns, 32 per halo edge, 3/16 per node
// of the graph, and 8 per own node. Options.Memory refuses parts that need more: before the job where the edges that
// the part owns need it, and in the worker where halo edges do.
//
// # Faults
//
// A task may run twice at the same time, also on two machines. Functions are pure. Folders and files are made under
// names that no other call has, and renamed when they are whole. A record that is lost, or that comes twice, is found by the number
// of bytes.
package cluster
