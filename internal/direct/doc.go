// Package direct reads files larger than memory, and spills to one, without
// filling the page cache.
//
// File reads and Scratch reads and writes with O_DIRECT: the disk writes into the
// caller's memory. Addresses, lengths and offsets are then multiples of Align.
// Where a file system refuses, the same calls go through the page cache and what
// they read is evicted from it, so callers need not care.
//
// Buffers belong on huge pages: the kernel pins every page of a buffer for each
// read, and on pages of 4 KiB that costs a third of a fast disk's rate. Alloc
// gives such memory. It, and what Array gives, lies outside Go's heap: the garbage
// collector neither scans nor counts it, and free returns it to the system at once.
//
// Resident tells how much of a file is in the page cache, Calibrate how fast a
// file can be read.
//
// A goroutine in a read keeps its place among GOMAXPROCS until the runtime takes
// it back, which is late for reads of a millisecond. Programs that read with many
// goroutines beside work want GOMAXPROCS above the number of cores; this package
// does not set it.
//
// It imports internal/vfs alone.
package direct
