// Package graphmill turns raw graph tables into training-ready batches for graph neural networks: it imports, partitions,
// samples (in memory, or out of core from one SSD) and packs graphs, and hands out batches of them. The command
// graphmill, the feed of the Python client and the Flight server are built on this package.
//
//	st, err := graphmill.Import(ctx, "edges.csv", "g.store", option.Import{})
//	for b, err := range graphmill.Batches(ctx, st, option.Batches{Draw: option.Draw{Fanout: []int{15, 10}}}) { ... }
//
// # Operations
//
// Each operation reads files and folders by their path, and writes one folder: the whole folder, or nothing. Its options
// are a struct of package option: the zero value of each field is its default, unless the field says that it is required. It
// returns a Report or another result of package report, whose JSON is what the command prints with --json, and whose method
// Text writes it in words.
//
//	Import, GenerateRMAT, GenerateCommunity       make a store (one graph) or a collection (many graphs)
//	GenerateLike                                  make a store with the published sizes of a data set
//	Open, Store.Describe, Verify                  open it, describe its contents, find any changed bit
//	Sample, SampleUnigraph, Forecast              write subgraphs around seeds as a collection or TFRecords
//	Batches, NewLoader                            sample batches, with their features, in memory or in sweeps over the disk
//	Loader.Asker                                  answer for single nodes, in a service
//	Partition, Dispatch, PartitionGraph, Send     divide a graph into parts for DGL's distributed training
//	Pack, Fill, Materialise, PackStream           put many small graphs into packs of one shape
//	Export, Chunk, StoreToUnigraph                write other formats
//
// The same input, options, random seed and version give the same bytes for any number of threads, any memory budget and
// on any machine.
//
// # Errors
//
// An error says what was found, what was expected, and what to do. Its kind is tested with errors.Is and a sentinel such
// as ErrUsage or ErrExists. An error about options names their fields in backquotes: "found `BatchSize` -1".
//
// # Ownership
//
// The slices of a Store are views of memory maps, valid until Close. A Batch and its columns are valid until the
// iterator's next step; Clone returns a copy that stays valid. An operation ends soon after its context is cancelled, and
// leaves no half-written output. No goroutine outlives the call that started it, except the goroutines of a Loader, which end with
// its Close.
package graphmill
