// Package outofcore samples graphs whose neighbours do not fit in memory. It reads the neighbours from the disk in
// order, in sweeps, and draws the same edges as the memory executor: the subgraphs of a run equal the subgraphs of sample.Run
// for any budget, for any number of threads and from any batch on.
//
// # Types
//
//   - Executor opens a plan over a store, runs pilots, chooses a design and runs it.
//   - neighbours holds the files that the plan reads, and maps ops to files and waves; disk holds the measured speed.
//   - rowTables reads the rows of columns that batches want (Rows).
//   - demand is what a batch takes: the most that the plan allows, or what a pilot found.
//   - budget, with windowBudget, layerBudget, spillBudget and rowBudget, is the memory that a design needs for a demand.
//     It computes and changes nothing.
//   - estimate computes forecasts from a budget and the disk. It changes nothing either.
//   - pipeline is one run: the buffers and the goroutines that advance windows, sweep and emit. spill and condenser are
//     the runs by the other designs.
//
// # The pipeline
//
// Draws are pure functions, so the batches of a run need not be made one by one. A window is a run of batches that take
// each step of the plan together. A step is a wave of the plan (Sampler.Waves), such as a hop of a fanout list. A sweep
// is one pass over the files of neighbours. It serves the first step of one window, the second step of the window
// before, and so on, also across the end of an epoch:
//
//	advance  each window takes the results of the last sweep, finds the nodes that its next step expands, and adds a
//	         request for each node to the block of 1 MiB where its edges are. Nodes whose edges lie in two blocks,
//	         and strategies that read columns, add a request for each drawn edge.
//	sweep    readers take the blocks in the order of the file, draw for the requests, read the part of the block
//	         that is wanted (nothing, some pages, or all) and store the far ends in the results of the window.
//	emit     while the next sweep runs, the ordinary kernel samples the batches of a window that has all its steps
//	         from the results of the window.
//
// Edges are not kept but drawn again where they are needed: a sampled edge costs the 4 bytes of its far end.
//
// # Condensed layers
//
// Under scope epoch a node has one sample per epoch and op, so the sample is kept once for all batches that expand the
// node (Condensed). The samples of an op are a layer: the set of the nodes that the ops it starts from reach in any
// batch, where the results of each node begin, and the results. Nodes of a block are next to each other in the set as
// they are in the file, so that no requests are needed. Several epochs go together: a sweep serves the first wave of
// some epochs, the second wave of the epochs before, and so on. Meanwhile the ordinary kernel samples the batches of
// epochs that have all their layers, and looks its nodes up in them. As many epochs go together as the memory allows,
// so that they share sweeps.
//
// # Spilled epochs
//
// Where the memory holds only small windows, their sweeps cost more than a scratch file does. Then one epoch or several
// are one window, whose requests and results lie in a scratch file (Spilled): the requests in a stream for each run of
// blocks, the results in a stream for each group of batches, both in extents. A step walks group by group, with the
// results so far in memory, and then sweeps run by run, with the requests of the run in memory in the order of blocks.
// Memory then holds the offsets, two groups or two runs, and an extent for each stream.
//
// With Options.Keep, the file and a list of its extents stay when a run is cut off, and another run resumes after the
// last whole step.
//
// # Rows of columns
//
// A caller that writes subgraphs with features names the columns (NodeRows, EdgeRows), and finds the rows that a batch
// wants in a table while it encodes the batch. Before that, the rows that the batches want are marked. Then the files of
// the columns are read once, in order, each block whole, by pages or not at all, and each wanted row is copied to the
// table once. Where the table does not hold the rows of all batches of a window, the batches are divided into packs
// whose rows it holds. Each pack takes a pass over the files. Where that takes longer, one pass writes the rows of all
// packs to a scratch file, pack by pack, and the rows of each pack are read from there. Rows share the memory with the
// windows, so that the run reads least. Strings and rows of variable length are not fetched: the caller reads them
// through the map of the store, and counts them in Options.Held.
//
// # Memory
//
// With Options.Slots, a training takes the batches while a run makes them: a window has at most an epoch, and the caller's
// slots count in the memory. Split divides an executor into several that share the plan, the offsets and the files.
//
// A run holds the offsets of the nodes (4 bytes per node, 8 where the edge type is wide: sample.Sampler.Wide), about 12 bytes for
// each edge that a window samples, and the buffers of the readers and of the kernel. The window is the largest that Options.Memory
// allows. The sampled edges of a window have 32-bit numbers, so a window has fewer than 2^32 of them.
//
// A position in a file of neighbours is held as a block and a place in it, which fit 32 bits each for any number of edges.
//
// # Refusals
//
// Open and Run refuse what needs the neighbours in memory: a direction that is not stored, and induced subgraphs. They refuse
// node types with 2^32 members or more. Columns that strategies read are held in memory. The errors wrap sample.ErrFetch or
// ErrMemory and say what to do.
package outofcore
