// Package survey measures TFRecords of GraphTensors: the sizes of the graphs, the number of edges per node, and the
// distribution of the values of each feature.
//
//	s, err := survey.Take(ctx, vfs.OS, files, survey.Options{Schema: schema})
//	text := tfgnn.AppendText(nil, s.Stats())   // as TF-GNN's sampled_stats
//	s.Report(r)                                // tables and plots
//
// One goroutine reads, and several decode and count. The result depends on the records alone, not on the number of
// threads: counts commute, and sums are added in the order of the records.
//
// # Features
//
// Each numeric feature has one distribution of all its values, in all items of all graphs, as float32, the type in
// TF-GNN's message. The size of each set also has one, as #size. Strings have none. NaN is counted separately and is
// part of no other figure.
//
// # Quantiles
//
// With q quantiles there are q+1 values: the least, the largest, and between them the sorted values at the indices
// int(j*n/q + (n-1)/q), for j from 0 to q-2. Beam's ApproximateQuantiles gives these as long as it does not have to
// approximate. They are exact if a feature has at most 32768 different values. Otherwise they are within 1/4096 of
// their magnitude, except the least and the largest, which are always exact.
//
// # Memory
//
// A thread holds its current records and, per feature, from 48 KiB for few different values to 8 MiB for values over
// the whole range of float32.
package survey
