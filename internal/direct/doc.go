// Package direct reads files that are larger than memory, and spills to files, without filling the page cache.
//
// File reads, and Scratch reads and writes, with O_DIRECT: the disk transfers to and from the memory of the caller.
// Addresses, lengths and offsets are then multiples of Align. Where a file system does not support it, the same calls
// go through the page cache and evict what they read.
//
// Buffers should be on huge pages, because the kernel pins every page of a buffer for each read. On pages of 4 KiB that
// costs a third of the rate of a fast disk. Alloc makes such memory. The memory of Alloc and Array is outside the Go
// heap: the garbage collector neither scans nor counts it, and free returns it to the system at once.
//
// Resident is the share of a file in the page cache. Calibrate measures how fast a file can be read.
//
// A goroutine in a read counts towards GOMAXPROCS until the runtime notices that it waits, which is late for reads of a
// millisecond. Programs that read with many goroutines while others work should set GOMAXPROCS above the number of
// cores. This package does not set it.
package direct
