// Package trial measures what an epoch costs by each way to sample a graph that does
// not fit in memory: time, processor time, bytes read and written, memory.
//
// # Designs
//
// A Design is a way to sample and the job that shows it. They run the same seeds and
// fanouts:
//
//	memory        the in-memory kernel, the store in memory: what the others are held to
//	memory-epoch  the same under scope epoch
//	windows       stream executor, scope batch, a pipeline over several epochs
//	window        the same, one cold epoch in one window
//	spilled       the same, one epoch with requests and results on the disk
//	condensed     stream executor, scope epoch, four epochs a stage
//	condensed-1   the same, one epoch a stage
//	chunks        package streamer: the whole epoch ahead, chunk by chunk
//	mmap          the in-memory kernel over the mapped store, of which no more than
//	              the limit may be resident
//	sweeps        no sampling: the stream executor's readers alone, against reading
//	              the same file in sequence
//
// # What is counted
//
// The clock runs from the first batch to the last; opening the store, compiling the plan
// and measuring the disk are apart. Bytes are those that the system counts for the
// process at the block device, beside what the executors count themselves. The memory is
// the peak of the process, so that a process should Run one Design.
//
// The first epoch's subgraphs give a digest, by which designs of one scope are known to
// have done the same work (Compare).
//
// # mmap under a limit
//
// The map is told to be read at random, and is taken out of the page cache first. While
// the process is larger than the limit, the map is given back and taken out of the page cache
// piece by piece, one after the other; the offsets of the nodes stay. That is kinder than a
// limit of the system, which costs time of its own. Eight goroutines a thread wait for
// the disk. The epoch is extrapolated from the batches that end in a while after the limit
// was reached.
//
// The package imports internal/sample, internal/sample/outofcore, streamer, internal/store, graph, draw, internal/report,
// internal/*, zeebo/xxh3, x/sync and x/sys.
package trial
