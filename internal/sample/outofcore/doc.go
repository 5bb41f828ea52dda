// Package outofcore samples graphs whose neighbours do not fit in memory: it reads
// them from the disk in order, in sweeps, and draws what the memory executor
// draws. A run's subgraphs equal those of sample.Run for any budget, any number of
// threads and from any batch on.
//
// # The pipeline
//
// Draws are pure functions, so the batches of a run need not be made one by one. A
// window is a run of batches that take each step of the plan together; a step is a
// wave of the plan (Sampler.Waves), such as a hop of a fanout list. One sweep, a
// pass over the files of neighbours, serves the first step of one window, the
// second of the window before, and so on, also over the border of two epochs:
//
//	advance  each window takes what the last sweep has fetched, finds the nodes that
//	         its next step expands, and leaves a request a node with the block of
//	         1 MiB where its edges are. Nodes whose edges lie in two blocks, and
//	         strategies that go by columns, leave one a drawn edge.
//	sweep    readers take the blocks in the order of the file, draw for the requests,
//	         read what is wanted of the block (nothing, some pages, all) and put the
//	         far ends into the window's results.
//	emit     while the next sweep runs, the batches of a window that has all its steps
//	         are sampled by the ordinary kernel out of its results.
//
// Edges are drawn again where they are needed instead of being kept: a sampled edge
// costs the 4 bytes of its far end.
//
// # Condensed layers
//
// Under scope epoch a node has one sample an epoch and op, so it is kept once, however
// many batches expand the node (Condensed). What an op takes is a layer: the set of the
// nodes that the ops it starts from reach in any batch, where the results of each begin,
// and these. Nodes of a block follow each other in the set as in the file, so that there
// are no requests. Several epochs go together: a sweep serves the first wave of some, the
// second of those before, and so on, while the batches of epochs that have all their
// layers are sampled by the ordinary kernel, which looks its nodes up. As many go together
// as the memory allows, so that a sweep is shared by several epochs.
//
// # Spilled epochs
//
// Where windows would be so small that their sweeps cost more, an epoch or several are
// one window, which lies in a scratch file (Spilled): requests in a stream for each run of blocks,
// results in one for each group of batches, both in extents. A step walks group by
// group, with the results so far in memory, and then sweeps run by run, with its
// requests in memory in the order of blocks. Memory is then the offsets, two groups or
// two runs, and an extent for each stream.
//
// With Options.Keep the file and a list of its extents stay when a run is cut, and
// another one goes on behind the last whole step.
//
// # Rows of columns
//
// Who writes subgraphs with features names the columns (NodeRows, EdgeRows) and finds
// the rows that a batch wants in a table while it encodes. Ahead of that, what the
// batches want is marked; then the files of the columns are read once, in order, each
// block whole, by pages or not at all, and the rows copied to the table, each once.
// Where the table does not hold the rows of all batches of a window, these are divided
// into packs whose rows it holds. Each pack takes a pass over the files or, where that
// takes longer, one pass writes the rows to a scratch file, pack by pack, and each is
// read from there in one go. Rows share the memory with the windows, so that least is
// read. Strings and rows of a variable length are not fetched: they are read through the
// map of the store, and the caller counts them as held.
//
// # Memory
//
// Held at once: the offsets of the nodes (4 bytes a node), about 12 bytes for each
// edge that a window samples, readers' buffers and the kernel's. The window is the
// largest that Options.Memory allows. A sampled edge of a window is numbered in 32
// bits, so a window has fewer than 2^32 of them.
//
// # What is refused
//
// What needs the neighbours in memory: a direction that is not stored, induced
// subgraphs, types with 2^32 members or more. Columns that strategies go by are
// held in memory. These errors wrap sample.ErrFetch or ErrMemory and say what to do.
//
// The package imports sample, store, graph, internal/*, zeebo/xxh3, x/sync and x/sys.
package outofcore
