// Package lake holds a table of a lake as it is at one version: its columns, the files with its rows, and the rows of these files that
// are deleted. Packages delta and iceberg read it from the log of a table. Package lakefiles makes rows of it.
//
// A lake's table is a folder of Parquet files and a log. The log says which files count, which rows of them are deleted, what the columns
// are named now, and which values all rows of a file have in common. So files are never read without it.
//
// The rows of a table have no order. Files are in the byte order of their paths, and rows in the order of their file, so that equal
// tables give equal rows, whether their log was compacted or not.
package lake
