// Package stages runs a job in stages of tasks, on any workers that reach one folder. Records pass from a stage to the next one
// through files in that folder. So whoever starts the tasks (an engine of a cluster, a scheduler of indexed jobs, a loop) carries
// nothing but the numbers of tasks, holds no record, and needs no sort.
//
// # Stages and tasks
//
// A stage has a fixed number of tasks. A task of the first stage calls the function of the job once, with the number of the task as key. A task
// of a later stage has the keys of its share, which follows from the key alone (taskOf): it calls the function for each of its
// keys for which an earlier stage gave a record, in ascending order, with the records of the key in the order of the stages and tasks
// that gave them. So the output of a task depends on the job alone.
//
// A record is for a later stage, not always the next one. A stage begins when every task of the stage before is whole (Finish).
//
// # Files
//
// A task writes one file, also where it gives no record, and the file gets its name when it is whole:
//
//	NN/TTTTTTTT    the records of task T of stage NN
//	NN.whole       all tasks of stage NN are whole; files that no later stage reads are gone
//
// A file has a segment per task of each stage that its records are for, with these records sorted by key; then the index: for each segment its offset (8
// bytes) and the CRC-32C of its bytes (4 bytes), and the end of the last segment in the same form. A record is the difference of
// its key to the key before (zigzag varint), its length (varint) and its bytes. All numbers are little-endian. A reader reads 24 bytes of the
// index of a file, and one segment. In an object store it reads these ranges alone, of several files at a time.
//
// # Memory and disk
//
// A task holds Memory bytes of the records that it reads, and as many of those that it gives; what is more is sorted in runs
// in an unnamed temporary file of the folder. From an object store it holds up to Memory bytes more, of segments that it read ahead. The folder holds the records that a later stage reads.
//
// # Faults
//
// A task that is whole is never done again. A task may run twice at a time, on several machines: both write the same bytes, and
// the function of the job must bear that. What a killed task leaves has a name of its own, which Finish removes; in an object store it leaves nothing.
package stages
