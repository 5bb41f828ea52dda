// Package extsort divides records into buckets by range of a key, in bounded memory. All sorts of data that may be
// larger than memory use it.
//
// A Partition has a number of buckets of equal width (a power of two) in key space. Each worker appends records through
// a Writer, which collects them in one small buffer per bucket. Full buffers become extents of a Spill, which keeps
// them in memory up to a limit, and the rest in one unnamed temporary file. A Codec can make extents smaller, because
// their cost is memory traffic. A key above the last bucket doubles the width: buckets are then merged in pairs by
// joining their lists of extents, so that the range of keys need not be known.
//
// The records of a bucket come back as runs. The records of one run are in the order in which one Writer took them. So
// a consumer that numbers its records can restore any order by a merge of few runs.
//
// Memory comes from the operating system and returns to it with Close, independently of the garbage collector. So the
// peak of a stage is the sum of the limits that it was given.
//
// Free gives the places of extents to others. A file of 1 GiB or more gives their space back to the disk, too, so that a stage that
// frees each bucket which it has merged takes about the disk of the larger of its input and its output, and not of both.
//
// Out and Add carry extents between Partitions of different processes, without a Spill on the way.
//
// The package treats records as bytes.
package extsort
