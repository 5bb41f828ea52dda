// Package tfgnnfiles finds and reads the files that TF-GNN describes a graph by: the GraphSchema, the SamplingSpec, and
// the tables that a schema names. Package format/tfgnn parses and checks their bytes.
//
// A schema or spec has at most 64 MiB. Tables resolves the file name of a table: relative to the folder of the schema, a
// plain name, a glob, or "base@N" for the N shards "base-00000-of-0000N" and so on, all of which must exist. A relative
// name never leads out of the folder. An absolute name needs the caller's consent.
//
// Errors of the bytes wrap tfgnn.ErrSyntax or tfgnn.ErrInvalid, errors of file names ErrTable; other errors come from
// the file system.
package tfgnnfiles
