// Package tablefiles finds the files of a table, by a name that may have wildcards, in folders and the folders below them, and opens
// them. The log of a table of Delta Lake or Iceberg says which rows of its files count, so that it stands for them: its files alone are
// refused, as are tables of Hudi and Lance.
//
// Open recognises the kind of files by their extension, or by their first bytes where that says nothing. Folders KEY=VALUE between a
// named folder and a file are columns of the table.
package tablefiles
