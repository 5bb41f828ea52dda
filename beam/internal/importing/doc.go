// Package importing runs a cluster.Work of an import as a Beam pipeline: the stages of a Site are the functions of the
// pipeline, and the keys of its records are those by which Beam groups them.
//
//	tasks -> Reshuffle -> stage 0 -> GBK -> stage 1 -> GBK -> stage 2 ...
//
// Each stage has one output, because Flink sends all outputs of a stage to each consumer.
package importing
