// Package iceberg reads the metadata of tables of Apache Iceberg, by its specification, in the versions 1 to 3:
//
//	metadata/version-hint.text              the newest version, where the catalog is a folder
//	metadata/v12.metadata.json              the table at that version: schemas, partition specs, snapshots
//	metadata/00012-UUID.metadata.json       the same under the name that other catalogs give it
//	metadata/snap-ID-N-UUID.avro            a snapshot: its manifests
//	metadata/UUID-mN.avro                   a manifest: files with rows, or with deletions
//	data/...parquet                         rows, the rows of files that are deleted by their numbers, and the keys of rows that are deleted
//	data/...puffin                          deletion vectors: the rows of a file that are deleted, as a bitmap
//
// Open finds the metadata, follows a snapshot to its files, and resolves deletions by number to bitmaps. Those by key are resolved
// before the first scan (lake.Snapshot.Resolve). A feature that is not read is an
// error with its name: encryption, files of rows in ORC or Avro, versions above 3.
//
// # Paths
//
// The metadata has absolute paths. A path below the location that the metadata gives is taken in the folder where the table
// is now, so that a table can be moved.
//
// # Deletions
//
// A file with rows has a sequence number, and so has a deletion. A deletion by a number or a vector counts for files of the same or a lower
// number, and one by a key for files of a lower number alone. Each counts for the files of its partition; one by a key
// in a table without partitions counts for all files.
//
// To resolve deletions by keys, their columns of the files that they count for are read, row groups by several threads. The keys that one
// partition deletes are in memory at a time, in about the bytes of the keys and 64 bytes for each, so that the memory is bounded by the files
// of keys, and not by those of rows.
package iceberg
