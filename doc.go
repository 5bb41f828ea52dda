// Package graphmill turns raw graph tables into training-ready batches for graph neural networks: it imports, partitions,
// samples (in memory, or out of core from one SSD), packs and hands out graphs. It is what the command graphmill, the
// feed of the Python client and the Flight server call.
//
//	st, err := graphmill.Import(ctx, "edges.csv", "g.store", graphmill.ImportOptions{})
//	for b, err := range graphmill.Batches(ctx, st, graphmill.SampleOptions{Fanout: []int{15, 10}}) { ... }
//
// # Operations
//
// Each operation reads files and folders by their path, and writes one folder: whole, or not at all. An operation
// takes a struct of options, of which the zero value is the default. What all have in common (threads, memory, progress)
// is the embedded Run. Choices are typed strings, such as ScopeSeed. What an operation returns is what the command
// prints with --json: a Report, or a value of its own with a method Text.
//
//	Import, GenerateRMAT, GenerateCommunity       make a store of one graph, or a collection of many
//	Open, Store.Describe, Verify                  read it, tell what is in it, find any changed bit
//	Sample, SampleUnigraph, Forecast              subgraphs around seeds, into a collection or TFRecords
//	Batches, NewLoader                            the same, one batch after the other in memory, with features
//	Partition, Dispatch, PartitionGraph, Send     parts of a graph for DGL's distributed training
//	Pack, Fill, Materialise, PackStream           many small graphs into packs of one shape
//	Export, Chunk, StoreToUnigraph                other formats
//
// The same input, random seed and version give the same bytes, for any number of threads, any memory, on any machine.
//
// # Errors
//
// An error says what was found, what was expected, and what to do. Sentinels such as ErrUsage and ErrExists tell kinds
// apart by errors.Is. An error about options names their fields in backquotes: "found `BatchSize` -1".
//
// # Ownership
//
// The slices of a Store are views of memory maps, valid until Close. A Batch and its columns are valid until the
// iterator's next step; Clone keeps them. All operations end soon after their context does, and leave nothing
// half-written. No goroutine outlives the call that started it.
//
// The package imports the stages below internal/, and no command.
package graphmill
