// Package ingest reads the formats of graphs. A format turns a path and options into a Source: the tables of the
// graph's node and edge types and the meaning of their columns. Package assemble makes a store from it, or package
// ingest/collection a collection of many graphs.
//
// The formats, each in a file of its own, are:
//
//   - unigraph: TF-GNN's GraphSchema (.pbtxt, or the folder of one) and its CSV, TFRecord and Parquet tables;
//   - dgf: the folder of a graph of Google's DGF: schema.json, metadata.json, and Parquet files;
//   - edge list: one table of edges, of any kind that package table opens, in one file, several, or a folder;
//   - npy: an array of edges, or the two arrays of a sparse matrix;
//   - matrix-market: the entries of a matrix as text, .mtx;
//   - dense-matrix: a matrix with all its entries, as an array or as text;
//   - npz: an archive with a sparse matrix of SciPy, or with the ends of edges and columns of nodes and edges;
//   - graph.yaml: a list of node and edge tables of all these kinds, of one graph or of many;
//   - tu: the folder of a TU data set of many graphs;
//   - ogb: the folder of an OGB data set: of many graphs, or of the one of a data set of nodes or links;
//   - ncol, lgl, sif: lists of igraph, LGL and Cytoscape;
//   - konect: a network of the KONECT collection; snap.go reads the comments of SNAP's edge lists;
//   - metis: the undirected graphs of METIS;
//   - dimacs: the arcs and edges of the DIMACS challenges;
//   - ntriples, triples: RDF, and files of head, relation and tail, with an edge type for each relation or a column;
//   - openke: triples of numbers, with the names of entities and relations beside them;
//   - graphml, node-link, adjlist: GraphML, and networkx's JSON and adjacency lists;
//   - jgf, cytoscape-js, cx2, adjacency-json: relatives of node-link JSON, which the first members of a document tell apart;
//   - neo4j, apoc-csv, apoc-json, neptune, arangodb: exports of graph databases, whose rows say labels and types (labelled);
//   - kuzu, graphar: exports with a schema;
//   - chunked: DGL's chunked graph, a metadata.json and the chunks that it lists;
//   - chunk: the chunk files of the stream executor;
//   - dgl: a file of DGL's save_graphs, of one graph or of many;
//   - dgl-parts: a graph that DGL or dispatch partitioned, as a whole again.
//
// A new format is a type that implements format and is listed in formats. Its method detect says whether a path looks
// like the format, and sniff whether its content does. Kinds of files that are not imported are in refusals.
//
// A maker turns what is asked of columns, and what their fields look like, into columns of tables: dtypes, units of times,
// categories, vectors, and what empty cells mean (gaps). Categories that no list fixes are found by Source.Collect, which
// scans the columns of each table once, before the tables are read for the store; Source.Held then has their memory, about
// 64 bytes per text and its bytes.
//
// Formats read the first lines and the headers of tables, and not all rows, but for those in which only the rows tell
// the types or the columns: triples, node-link and its relatives. Files that a metadata file names must be in
// its folder and not be reached through symbolic links, unless the caller allows others. Every error about them names
// the file and the line, and says what to do.
package ingest
