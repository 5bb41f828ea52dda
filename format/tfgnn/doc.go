// Package tfgnn parses, checks and writes the messages that TensorFlow GNN describes graphs by: the GraphSchema (the
// sets of a graph, their features, and their tables) and the SamplingSpec (how subgraphs are sampled). The message
// types are in package tfgnnpb.
//
// # Reading
//
// ParseSchema and ParseSpec read the text format of protocol buffers in all its forms ("a { }", "a: { }", "a < >",
// lists in brackets, comments), and the binary format, which they recognise by its first bytes. A repeated map key
// keeps the last value, as in TF-GNN. Errors begin with the name that the caller gives, and the line and column of
// the text or the byte of the binary form. InspectSchema and InspectSpec also check the message.
//
// # Checking
//
// CheckSchema refuses what TF-GNN's own validation refuses. It also refuses schemas that TF-GNN accepts although data
// of them cannot be read back: a dimension of size 0, a shape of more than 2^31 values, an empty name, and two
// features with the same key in an Example (set "a" with feature "b.x", set "a.b" with feature "x"). CheckSpec
// refuses what either of TF-GNN's samplers refuses, and ops that cannot sample anything. Valid but suspicious content
// is a warning. All faults are reported at once, each as a Fault with the path of its field and, from InspectSchema
// and InspectSpec, its line and column.
//
// # Writing
//
// AppendText is deterministic: fields by number, map entries by key, UTF-8 unescaped. Its bytes equal the output of Python's
// text_format with as_utf8. AppendBinary writes the wire format, which also keeps the fields that this version does
// not know.
//
// # Tables
//
// FindTables passes the file name of each set's table to the caller's function and reports missing tables as faults
// of the schema.
package tfgnn
