// Package parquet reads and writes Parquet files: columns of numbers and byte
// strings, single or in lists of any depth, in row groups.
//
//	"PAR1"
//	row group: for each column its pages (a dictionary, then values)
//	...
//	footer: the schema, where each column of each row group lies (Thrift, compact)
//	u32 length of the footer, "PAR1"
//
// # Reading
//
// Open reads the footer. A Reader then gives the rows of one column of one row
// group, in as small runs as the caller asks for:
//
//	f, err := parquet.Open(r, size)
//	c := f.Reader(r, group, column)
//	for err == nil { rows.Reset(); err = c.Read(&rows, 1000, 1<<20) }
//
// It takes data pages of both versions; the encodings PLAIN, RLE, dictionaries,
// DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY and
// BYTE_STREAM_SPLIT; pages as they are or compressed with Snappy, gzip or zstd.
// Columns that are structs, maps, decimals or INT96 are listed with a Reason why
// they cannot be read. Encrypted files, and files that name other files, are
// refused.
//
// Input is not trusted. A number in a header allocates nothing that the file has
// not shown to hold, except for a page, of at most 128 MiB; runs of equal values
// are followed, not expanded, so that a small file of many rows costs the caller
// only what it asks for at a time. Page checksums are verified where a page has
// one. What is wrong gives an error that wraps ErrCorrupt, or ErrUnsupported.
//
// That is why this is no library's work: of 30,000 damaged copies of a file of 5 KB
// parquet-go 0.32 panicked on hundreds and took up to 3.4 GiB for one, and a
// recover around a parser is no way to survive. The library is what the tests write
// and read with.
//
// # Writing
//
// A Page is the values of a column in a run of rows, PLAIN and compressed with
// zstd, made by a PageEncoder: any number of goroutines may make pages. A Writer
// puts them into row groups. Equal input gives equal bytes.
//
// The package imports the standard library, klauspost/compress and no other.
package parquet
