// Package assign holds assignments: the part of every node, and the files in
// which they are kept and exchanged.
//
// The folder of an assignment has
//
//   - <node type>.txt for each type: line i is the part of node i;
//   - partition_meta.json: {"version": "1.0.0", "num_parts": 4, "algo_name": "metis"},
//     as DGL's random_partition.py writes and its dispatch_data.py reads, which takes
//     algo_name random or metis only. The true method stands in the key "method", which
//     DGL ignores;
//   - where the parts were divided over trainers, "num_trainers_per_machine" in
//     partition_meta.json and a folder trainers with the same files again: line i is the
//     trainer of node i, counted over all parts, so that its part is trainer / num_trainers_per_machine.
//
// Names of types are names of files as they are; only what no file name holds, and
// '%', is %XX, byte by byte (FileName).
//
// METIS's x.graph.part.K (line i: the part of node i) and ParMETIS's <name>_part.K
// (lines "id part") hold the homogeneous graph, type after type, and are read as well.
//
// Lines end in LF or CRLF, the last one needs no end, and spaces around numbers are
// ignored. Errors name file and line. Memory: the assignment, as far as the files
// have lines for it, and 256 KiB.
//
// The package imports store, internal/vfs, internal/tagged and the standard library.
package assign
