// Package importing makes stores and collections: of tables, files of graphs, TFRecords and databases, on this machine or on the workers
// of a cluster, and of the laws of synthetic graphs.
package importing
