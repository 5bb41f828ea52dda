package ingest

import (
	"path/filepath"
	"testing"
)

// Files with a byte order mark, with compression that their names do not say, and in other encodings have the nodes, edges and
// values that networkx reads from them.
func TestEncodedFiles(t *testing.T) {
	checkNetworkX(t, filepath.Join("testdata", "strangers", "encoded"))
}

// TestFirstBytes checks that marks and compression count in lists of triples, too, and keys of node types without nodes and of
// edge types in braces in a graph.yaml.
func TestFirstBytes(t *testing.T) {
	edges := map[string]string{"e.csv": "src,dst\n0,1\n", "f.csv": "src,dst\n"}
	yaml := func(text string) map[string]string {
		return map[string]string{"graph.yaml": text, "e.csv": edges["e.csv"], "f.csv": edges["f.csv"]}
	}
	const triples = "entity 2: a:a c:c\nentity:b:entity: 0>1"
	runImports(t, []importCase{
		{name: "N-Triples with a mark", files: map[string]string{"e.nt": "\xef\xbb\xbf<a:a> <b:b> <c:c> .\n"}, path: "e.nt", want: triples},
		{name: "N-Triples with gzip", files: map[string]string{"e.nt": gzipped("<a:a> <b:b> <c:c> .\n")}, path: "e.nt", want: triples},
		{name: "adjacency list with a mark", files: map[string]string{"e.adjlist": "\xef\xbb\xbfa b\nb\n"}, path: "e.adjlist", want: "_N 2: a b\n_N:_E:_N: 0>1"},
		{name: "two kinds of one name", files: map[string]string{"a.csv": "src,dst\n0,1\n", "b.csv": "PAR1"}, path: "*.csv", want: "b.csv: found Parquet, expected text", fails: true},
		{name: "edge types in braces", files: yaml("nodes: {u: {}}\nedges: {u:e:u: {table: e.csv}, u:f:u: {table: e.csv}}\ntransforms: {split: {u:e:u: [0.5, 0.2, 0.3]}}\n"), path: ".", want: "u 2:\nu:e:u: 0>1\nu:f:u: 0>1"},
		{name: "no nodes", files: yaml("nodes: {u: {}, v: {count: 0}}\nedges:\n  u:e:u: {table: e.csv}\n  u:f:v: {table: f.csv}\n"), path: ".", want: "u 2:\nv 0:\nu:e:u: 0>1\nu:f:v:"},
		{name: "an edge to no node", files: yaml("nodes: {u: {}, v: {count: 0}}\nedges:\n  u:f:v: {table: e.csv}\n"), path: ".", want: "e.csv:2:3: found destination 1, expected an id of node type v, below 0", fails: true},
		{name: "no nodes and a table", files: yaml("nodes: {u: {}, v: {count: 0, table: f.csv}}\nedges:\n  u:e:u: {table: e.csv}\n"), path: ".", want: "graph.yaml:1:16: found a count together with a table", fails: true},
	})
}
