// Package survey counts what is in TFRecords of GraphTensors: how large the graphs
// are, how many edges their nodes have, how the values of each feature are spread.
//
//	s, err := survey.Take(ctx, vfs.OS, files, survey.Options{Schema: schema})
//	text := tfgnn.AppendText(nil, s.Stats())   // as TF-GNN's sampled_stats
//	s.Report(r)                                // tables and plots
//
// One goroutine reads, several decode and count. The result depends on the records
// alone, not on the number of threads: counts commute, and sums are added in the
// order of the records.
//
// # Features
//
// Each feature of numbers is one distribution of all its values, in all items of
// all graphs, as float32, which is what TF-GNN's message holds; so is the size of
// each set, as #size. Strings have none. NaN is counted apart, and is in no other
// figure.
//
// # Quantiles
//
// With q quantiles there are q+1 values: the least, the largest, and between them
// the sorted values at the places int(j*n/q + (n-1)/q), j from 0 to q-2, which is
// what Beam's ApproximateQuantiles gives as long as it need not approximate. They
// are exact while a feature has at most 32768 different values; beyond that they
// are within 1/4096 of their size, the least and the largest excepted.
//
// # Memory
//
// A thread holds the records at hand and, a feature, 48 KiB for few different
// values up to 8 MiB for values all over the range of float32.
//
// The package imports report, format/example and what lies below them.
package survey
