//go:build unix

// Package trial measures the cost of an epoch by each way to sample a graph that does not fit in memory: time,
// processor time, bytes read and written, and memory.
//
// # Designs
//
// A Design is a way to sample, and the job that shows it. All run the same seeds and fanouts:
//
//	memory        the memory executor, with the store in memory: the reference for the others
//	memory-epoch  the same under scope epoch
//	windows       stream executor, scope batch, a pipeline over several epochs
//	window        the same, one cold epoch in one window
//	spilled       the same, one epoch with requests and results on the disk
//	condensed     stream executor, scope epoch, four epochs per stage
//	condensed-1   the same, one epoch per stage
//	chunks        package streamer: the whole epoch in advance, chunk by chunk
//	mmap          the memory executor over the mapped store, which may be resident only up to the limit
//	sweeps        no sampling: only the readers of the stream executor, compared with sequential reads of the
//	              same file
//
// # Figures
//
// The clock runs from the first batch to the last. Opening the store, compiling the plan and measuring the disk are not
// included. Bytes are those that the system counts for the process at the block device, in addition to those that the
// executors count. The memory is the peak of the process, so a process should Run one Design.
//
// The subgraphs of the first epoch give a digest, which shows that designs of one scope did the same work (Compare).
//
// # mmap under a limit
//
// The kernel is told that the map is read at random, and the map is removed from the page cache first. While the
// process is larger than the limit, the map is given back and removed from the page cache piece by piece, in turn. The
// offsets of the nodes stay. This is milder than a limit of the system, which costs time of its own. Eight goroutines
// per thread wait for the disk. The epoch is extrapolated from the batches that end in a period after the limit was
// reached.
package trial
