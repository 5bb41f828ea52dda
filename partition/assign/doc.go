// Package assign holds assignments: the part of every node, and the files in
// which they are kept and exchanged.
//
// The folder of an assignment has a file <node type>.txt for each type, line i the
// part of node i, and partition_meta.json, as DGL's random_partition.py writes and its
// dispatch_data.py reads. METIS's x.graph.part.K (line i: the part of node i) and
// ParMETIS's <name>_part.K (lines "id part") hold the homogeneous graph and are read
// as well.
//
// The package imports internal/fsx, internal/human, internal/tagged and the standard
// library.
package assign
