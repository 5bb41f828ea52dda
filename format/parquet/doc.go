// Package parquet reads and writes Parquet files. It covers columns of numbers and byte strings, single or in lists
// of any depth, in row groups.
//
//	"PAR1"
//	row group: for each column its pages (a dictionary, then values)
//	...
//	footer: the schema, and the place of each column of each row group (Thrift, compact protocol)
//	u32 length of the footer, "PAR1"
//
// # Reading
//
// Open reads the footer. A Reader then returns the rows of one column of one row group, as many at a time as the
// caller asks for:
//
//	f, err := parquet.Open(r, size)
//	c := f.Reader(r, group, column)
//	for err == nil { rows.Reset(); err = c.Read(&rows, 1000, 1<<20) }
//
// A Reader takes data pages of both versions; the encodings PLAIN, RLE, dictionaries, DELTA_BINARY_PACKED,
// DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY and BYTE_STREAM_SPLIT; and pages that are uncompressed or compressed with
// Snappy, gzip, brotli, zstd or LZ4_RAW. Columns of structs or maps are listed with a Reason why they cannot be read;
// their leaves are in File.Nested.
// Encrypted files, and files that refer to other files, are refused.
//
// Times are Int64 in the unit that Column.Unit says: a timestamp in its own, a date in seconds, INT96 in nanoseconds. A
// decimal is the nearest Float64, or an Int64 if it has at most 18 digits and none after the point; File.Digits reads longer
// ones as text.
//
// Input is not trusted. A number in a header allocates no more memory than the file has shown to need, except for one
// page of at most 128 MiB. Runs of equal values are not expanded, so that a small file of many rows costs the caller
// only the rows of one call. Page checksums are verified where a page has one. Errors about the bytes of the file
// wrap ErrCorrupt or ErrUnsupported.
//
// The package has its own parser because damaged input must never panic or exhaust memory: docs/decisions/parquet.md
// has what parquet-go and arrow-go do with it. The tests use parquet-go to write files and to read them back.
//
// # Writing
//
// A Page holds the values of a column for a run of rows, PLAIN and compressed with zstd, unless the column is Raw. Each goroutine may make
// pages with a PageEncoder of its own. A Writer puts the pages into row groups. Equal input gives equal bytes.
package parquet
