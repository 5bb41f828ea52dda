// Package tablefiles finds the files of a table, by a name that may have wildcards, in folders and the folders below them, and opens
// them. Folders of Delta Lake, Iceberg, Hudi and Lance are refused, since only their log says which rows of their files count.
//
// Open recognises the kind of files by their extension, or by their first bytes where that says nothing. Folders KEY=VALUE between a
// named folder and a file are columns of the table.
package tablefiles
