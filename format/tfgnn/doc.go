// Package tfgnn reads, checks and writes the text files of TensorFlow GNN: the
// GraphSchema (what sets a graph has, their features, their tables) and the
// SamplingSpec (how subgraphs are drawn), and finds the tables that a schema
// names. The messages themselves are in tfgnnpb.
//
// # Reading
//
// ParseSchema and ParseSpec read the text format of protocol buffers, in all its
// forms: "a { }", "a: { }", "a < >", lists in brackets, comments. A map key that
// is given twice keeps the last value, as in TF-GNN. Errors name the file, line
// and column. ReadSchema takes a file or a folder and checks what it read.
//
// # Checking
//
// CheckSchema refuses what TF-GNN's own validation refuses and what it lets pass
// although it cannot be read back: a dimension of size 0 or below -1, a name that
// is empty, and two features whose keys in an Example are the same (set "a" with
// feature "b.x", set "a.b" with feature "x"). What is odd but works is a warning.
//
// # Writing
//
// AppendText is deterministic: fields by number, map entries by key, strings with
// UTF-8 as it is. It is what Python's text_format writes with as_utf8, to the byte.
//
// # Tables
//
// Tables resolves the file name of a set: relative to the schema's folder, as a
// plain name, a glob, or "base@N" for N shards "base-00000-of-0000N", all of
// which must exist. A name does not lead out of the folder unless the caller
// allows absolute names.
//
// The package imports protobuf, tfgnnpb and internal/fsx.
package tfgnn
