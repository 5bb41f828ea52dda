// Package tfgnn reads, checks and writes the files that TensorFlow GNN describes
// graphs by: the GraphSchema (what sets a graph has, their features, their tables)
// and the SamplingSpec (how subgraphs are drawn), and finds the tables that a
// schema names. The messages themselves are in tfgnnpb.
//
// # Reading
//
// ParseSchema and ParseSpec read the text format of protocol buffers, in all its
// forms: "a { }", "a: { }", "a < >", lists in brackets, comments; and the binary
// format, which is told by its first bytes. A map key that is given twice keeps
// the last value, as in TF-GNN. Errors name the file, with line and column, or
// with the byte. ReadSchema takes a file or a folder and checks what it read.
//
// # Checking
//
// CheckSchema refuses what TF-GNN's own validation refuses and what it lets pass
// although it cannot be read back: a dimension of size 0, a shape beyond 2^31
// values, a name that is empty, and two features whose keys in an Example are the
// same (set "a" with feature "b.x", set "a.b" with feature "x"). CheckSpec refuses
// what either of TF-GNN's samplers refuses, and ops that could not sample
// anything. What is odd but works is a warning. All faults are told, each as a
// Fault: the path of the field, and with OpenSchema and OpenSpec its line and
// column.
//
// # Writing
//
// AppendText is deterministic: fields by number, map entries by key, strings with
// UTF-8 as it is. It is what Python's text_format writes with as_utf8, to the byte.
// AppendBinary is the wire form, which alone keeps fields that this version does
// not know.
//
// # Tables
//
// Tables resolves the file name of a set: relative to the schema's folder, as a
// plain name, a glob, or "base@N" for N shards "base-00000-of-0000N", all of
// which must exist. A name does not lead out of the folder unless the caller
// allows absolute names.
//
// The package imports protobuf, tfgnnpb and internal packages.
package tfgnn
