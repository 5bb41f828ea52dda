// Package tfrecord reads and writes TFRecord files: a sequence of byte records,
// each framed by its length and two checksums.
//
//	offset  size  content
//	0       8     length n, little-endian
//	8       4     masked CRC-32C of the 8 bytes of the length
//	12      n     the record
//	12+n    4     masked CRC-32C of the record
//
// The mask is ((c >> 15) | (c << 17)) + 0xa282ead8, modulo 2^32. There is no
// header and no footer: an empty file is a file of no records, and two files
// joined are a file of both. A file may be compressed as a whole with gzip.
//
// Writing is into the caller's memory, by AppendFrame. So a buffer of many records is
// made by any number of goroutines, and is written to its file by one call.
//
// Reading checks both checksums and never allocates more than the input has
// shown to hold: a length in a header is a claim, not a fact. Errors wrap
// ErrCorrupt and name the byte offset of the frame.
//
// Files reads several files as one stream, and says where each record is.
//
// The package imports internal/vfs and the gzip of klauspost/compress.
package tfrecord
