// Package dispatching runs a cluster.Work of parts as a Beam pipeline: the functions of its Site are the functions of the
// pipeline, and parts are the keys by which Beam groups records.
//
//	steps -> Reshuffle -> cut -> GBK -> make                     halo of at most one hop
//	steps -> Reshuffle -> cut -> GBK -> gather -> GBK -> finish  halo of more hops, which needs all parts gathered
//
// For parts of more than 64 MiB, a stage comes after cut, GBK -> slice, because Flink holds all records of a key in memory.
//
// Elements are coarse: a step reads some megabytes, and a record has up to 64 KiB, because each costs Beam about a microsecond on
// each side. Keys are int64 and records are bytes, which the runner only copies.
package dispatching
