// Package arrow reads Arrow IPC: files (also called Feather version 2) and streams. It covers columns of numbers, bools,
// times, decimals, byte strings and dictionaries of them, single or in lists of any depth. It writes files of simpler columns.
//
// A file or stream is a sequence of messages. Each has metadata, a flatbuffer, and a body of buffers, which may be
// compressed with LZ4 or zstd:
//
//	schema
//	dictionary batches: values that columns of later batches refer to by their index
//	record batches: a run of rows; for each column whether its rows are null, offsets, values
//
// A file starts and ends with "ARROW1", and its footer has the places of the messages.
//
// # Reading
//
// Open reads the schema and the metadata of the batches. A Reader then returns the rows of one column of one record batch,
// as many at a time as the caller asks for, in the form of format/parquet: Rows, Column and the types are the ones of that
// package, so that a table takes both kinds of files alike.
//
// Times are int64: a timestamp in its unit, a date32 in seconds, a date64 in milliseconds. Column.Unit has the unit.
// Times of day and durations are integers without a unit. A decimal of scale 0 and at most 18 digits is an int64, any
// other the nearest float64. Column.Category marks dictionaries of strings, whose rows are the strings.
//
// Columns of structs, maps, unions, list views and run-end encoded values are listed with a Reason why they cannot be
// read. Big-endian files and Feather version 1 are refused.
//
// # Writing
//
// A Writer writes a file of columns of numbers, bools, times and texts, single or as vectors of a fixed size. AppendBatch makes the record
// batches, also several at a time. They are not compressed, so that programs map them. Equal batches make equal files.
//
// # Damage
//
// Input is not trusted: there are checks where a library for Arrow has none. Each access to a flatbuffer is checked. Each
// buffer lies within the body of its message. A buffer is read and decompressed in pieces as its rows are asked for, so
// that memory follows the rows of one call and not a number in a header. Held as a whole, and bounded, are
// dictionaries (1 GiB of values) and the buffers of string views (the larger of 256 MiB and 4096 times their
// compressed size for a buffer). Rows of a batch are at most 2^31-1, and the bytes of a row at most 64 MiB. Errors about the
// bytes of the file wrap parquet.ErrCorrupt or parquet.ErrUnsupported.
//
// The package has its own parser because a library needs the same checks before it sees the bytes, and they are most of
// the work: docs/decisions/arrow.md. The tests, in package ingest/table, read files of pyarrow and polars.
//
// The API may change in any version: see package format.
package arrow
