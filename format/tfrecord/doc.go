// Package tfrecord reads and writes TFRecord files: a sequence of byte records, each framed by its length and two
// checksums.
//
//	offset  size  content
//	0       8     length n, little-endian
//	8       4     masked CRC-32C of the 8 bytes of the length
//	12      n     the record
//	12+n    4     masked CRC-32C of the record
//
// The mask is ((c >> 15) | (c << 17)) + 0xa282ead8, modulo 2^32. There is no header and no footer: an empty file has
// no records, and the concatenation of two files has the records of both. A file may be compressed as a whole with
// gzip.
//
// AppendFrame writes into memory of the caller, so that several goroutines can fill buffers of many records, and one
// call writes each buffer to its file.
//
// A Reader checks both checksums. It never allocates more memory than the input has shown to need, since a length in
// a header may be wrong. Errors wrap ErrCorrupt and name the byte offset of the frame.
package tfrecord
