// Package assign holds assignments, which map every node to its part, and reads and writes their
// files.
//
// The folder of an assignment has
//
//   - <node type>.txt for each type: line i is the part of node i;
//   - partition_meta.json: {"version": "1.0.0", "num_parts": 4, "algo_name": "metis"}, as DGL's
//     random_partition.py writes it and its dispatch_data.py reads it. DGL accepts only random and
//     metis as algo_name, so the key "method", which DGL ignores, has the true method;
//   - if parts are divided between trainers, "num_trainers_per_machine" in partition_meta.json, and a
//     folder trainers with a file per type: line i is the trainer of node i, counted over all
//     parts, so that the node's part is trainer / num_trainers_per_machine.
//
// A file has the name of its type; each byte that file names cannot hold, and '%', is written as %XX
// (FileName).
//
// METIS's x.graph.part.K (line i is the part of node i) and ParMETIS's <name>_part.K (lines "id part")
// number the nodes of the homogeneous graph, type after type. They are read as well.
//
// Lines end in LF or CRLF; the last line may lack its end, and spaces around numbers are ignored.
// Errors name the file and line. Reading takes the memory of the assignment, as far as the files have
// lines for it, and 256 KiB.
package assign
