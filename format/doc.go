// Package format holds the packages of file formats: a package per format, which reads or writes bytes and knows neither
// stores nor tables.
//
// These have a promised API: example, npy, parquet, tfgnn (with tfgnnpb) and tfrecord. Their exported names are removed or
// changed only in a minor version, with an entry in the changelog.
//
// The others are open to be read, and may change in any version: arrow, chunk, dgl, dglchunks, graphjson, graphml, metis, npz
// and rdf. Some of them take types of internal packages, which no other module can name.
package format
