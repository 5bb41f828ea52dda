// Package tablefiles finds the files of a table: by a name that may have wildcards, in folders and the folders below them. The
// files themselves are not read. Folders of Delta Lake, Iceberg, Hudi and Lance are refused, since only their log says which
// rows of their files count.
package tablefiles
