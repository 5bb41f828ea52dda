// Package dgf reads and writes the descriptions of graphs of Google's DGF ("Graph Flow"): schema.json, which has the sets of a graph
// with their features, metadata.json, which says how its tables are stored, and plans of sampling. DGF 0.1.0 defines them.
//
// A graph is a folder:
//
//	schema.json
//	metadata.json
//	nodesets/NAME-00000-of-00002.parquet ...
//	edgesets/NAME-00000-of-00001.parquet ...
//
// A node set has a row per node and, among its features, one with the ids of nodes: the one with the semantic PRIMARY_ID, or #id, #ID,
// id or ID. An edge set has a row per edge, with the ids of its ends in #source and #target.
//
// Attributes that this version does not know are left out, as DGF leaves them out. Errors begin with the name that the caller gives,
// and the line of the text where it is not JSON; they wrap ErrFormat.
//
// The package reads and writes the descriptions only, not the tables.
//
// The API may change in any version: see package format.
package dgf
