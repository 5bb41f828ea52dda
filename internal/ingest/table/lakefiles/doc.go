// Package lakefiles makes a table of the snapshot of a lake's table: of its Parquet files without the rows that are deleted, under the
// names and dtypes that the table has now.
//
// A file may lack columns of the table, have them under other names or in narrower types, or leave out those that all of its rows have in
// common. A column that a file does not have is an empty cell in its rows, or the default of the column. Columns that the table
// does not have any more are not read.
//
// Rows are numbered without the deleted ones, in the order of the files (package lake). Workers scan whole row groups, as those of
// package columnfiles, with the same bound of memory. The places of errors are those of the files.
package lakefiles
