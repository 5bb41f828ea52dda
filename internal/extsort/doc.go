// Package extsort cuts records into buckets by range of a key, in bounded
// memory: the one way in which the product sorts what may be larger than memory.
//
// A Partition has a number of buckets of equal width (a power of two) in key
// space. Workers append records through a Writer each, which collects them in one
// small buffer a bucket; full buffers become extents of a Spill, which keeps them
// in memory up to a limit and beyond it in one unnamed temporary file. A Codec can
// make extents smaller on the way, for what they cost is memory traffic. A key
// above the last bucket doubles the width: buckets are then merged in pairs by
// joining their lists of extents, so that the range of keys need not be known.
//
// The records of a bucket come back as runs: the records of one run are in the
// order in which one Writer took them. A consumer that numbers its records can
// thus restore any order by a merge of few runs.
//
// Memory comes from the operating system and goes back to it with Close,
// whatever the garbage collector does: a stage's peak is the sum of what it was
// told to use.
//
// The package knows bytes only. It imports internal/vfs and golang.org/x/sys.
package extsort
