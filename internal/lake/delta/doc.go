// Package delta reads the log of tables of Delta Lake, by the protocol of delta.io:
//
//	_delta_log/00000000000000000012.json                      the actions of commit 12, one per line
//	_delta_log/00000000000000000010.checkpoint.parquet        all actions that count at version 10
//	_delta_log/00000000000000000010.checkpoint.I.OF.parquet   the same in several files
//	_delta_log/00000000000000000010.checkpoint.UUID.parquet   the same, or .json, with more in files of _sidecars
//	deletion_vector_UUID.bin                                  rows of files that are deleted
//
// Open replays it: the last checkpoint that is whole, and the commits after it. It reads tables up to reader version 3, with the features
// of readerFeatures. A feature that is not among them is an error with its name.
//
// The version of a time is the last one whose commit was not later: by its inCommitTimestamp where the table has them, and by the time
// of its file where it has none, as in Spark.
package delta
