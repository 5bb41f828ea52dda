// Package recordfiles reads several TFRecord files as one stream of records, and says in which file, and where in it,
// each record is. A file may be compressed with gzip. The first error ends the stream; it begins with the name of the
// file and wraps format/tfrecord's ErrCorrupt or ErrTooLong, or comes from the file system.
package recordfiles
