// Package ingest reads the formats that graphs come in. A format turns a path
// and options into a Source: the tables of the graph's node and edge types and
// what their columns mean, which package assemble makes a store of, or package
// ingest/collection a collection of many graphs.
//
// The formats, one a file, are
//
//   - unigraph: TF-GNN's GraphSchema (.pbtxt, or the folder of one) and its CSV,
//     TFRecord and Parquet tables;
//   - edge list: one .csv, .tsv or .txt file, plain or compressed, or .parquet, of edges;
//   - npy: an array of edges, or the two arrays of a sparse matrix;
//   - graph.yaml: a list of node and edge tables of all these kinds, of one graph or
//     of many;
//   - tu, ogb: the folder of a TU data set, or OGB's raw one, of many graphs; OGB's of
//     one graph is refused, with the graph.yaml that imports it;
//   - chunked: DGL's chunked graph, a metadata.json and the chunks that it lists;
//   - chunk: the chunk files of a streaming sampler;
//   - dgl: a file of DGL's save_graphs, of one graph or of many;
//   - dgl-parts: a graph that DGL or dispatch partitioned, made whole again.
//
// A new format is a type that implements format, listed in formats, and
// says of a path whether it looks like one.
//
// Formats read the first lines and headers of tables, never all rows. Files that
// a metadata file names lie in its folder, without symbolic links on the way,
// unless the caller allows others. Every error about them names the file, the
// line and what to do.
//
// The package imports graph, ingest/table, ingest/build, ingest/collection,
// dispatch/parts, format/* and internal/*.
package ingest
