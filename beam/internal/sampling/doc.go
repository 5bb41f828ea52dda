// Package sampling runs a cluster.Work as a Beam pipeline: its functions for a Site are the functions of the pipeline, and
// groups and ranges are the keys by which Beam groups records.
//
//	groups -> Reshuffle -> sample                                                          method local
//	groups -> Reshuffle -> start -> GBK -> range -> GBK -> range ... -> GBK -> assemble     method shuffle
//	groups -> Reshuffle -> start -> GBK -> range ... -> GBK -> want -> GBK -> rows -> GBK -> assemble  with features
//
// Elements are coarse: a group is thousands of seeds, and a record is up to 64 KiB, because each costs Beam about a
// microsecond on each side. Keys are int64 and records are bytes, which the runner only copies. Every function has
// one output: Flink sends all outputs of a stage to each consumer, and the translation of 2.62.0 refuses a Flatten of
// records that go elsewhere, too.
package sampling
