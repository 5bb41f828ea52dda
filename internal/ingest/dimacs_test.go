package ingest

import "testing"

// Arcs are directed and have weights; edges of colouring are in both directions. The numbers of nodes and edges must be those of the line p.
func TestDIMACS(t *testing.T) {
	e := func(name, file, text, want string) importCase {
		return importCase{name: name, files: map[string]string{file: text}, path: file, want: want}
	}
	bad := func(name, text, want string) importCase {
		c := e(name, "g.gr", text, want)
		c.fails = true
		return c
	}
	const arcs = "c a\nc\n\np sp 4 2\nc x\na 1 3 7\r\na 3 1 9"
	const asArcs = "_N 4:\n_N:_E:_N: 0>2 weight=7 2>0 weight=9"
	runImports(t, []importCase{
		e("arcs", "g.gr", arcs, asArcs),
		e("arcs, compressed", "g.gr.gz", gzipped(arcs), asArcs),
		e("under another name", "g.txt", arcs, asArcs),
		e("weights with a point", "g.gr", "p sp 2 1\na 1 2 0.5\n", "_N 2:\n_N:_E:_N: 0>1 weight=0.5"),
		e("no arcs", "g.gr", "p sp 2 0\n", "_N 2:\n_N:_E:_N:"),
		e("no nodes", "g.gr", "p sp 0 0\n", "_N 0:\n_N:_E:_N:"),
		e("edges", "g.col", "c a\np edge 3 2\ne 1 2\ne 3 3\n", "_N 3:\n_N:_E:_N: 1>0 0>1 2>2"),
		e("edges of col", "g.col", "p col 2 1\ne 2 1\n", "_N 2:\n_N:_E:_N: 1>0 0>1"),
		e("METIS under the same extension", "g.gr", "2 1\n2\n1\n", "_N 2:\n_N:_E:_N: 0>1 1>0"),
		e("words that begin like comments", "g.txt", "c 1\np 2\n", "_N 4: c 1 p 2\n_N:_E:_N: 0>1 2>3\nwarning: g.txt: found texts in one of the columns \"src\" and \"dst\" and whole numbers in the other, which are read as ids of one node type; name two types with `SrcType` and `DstType`, and a table of nodes in a graph.yaml"),
		e("words that begin like it", "g.txt", "src dst\np q\n", "_N 2: p q\n_N:_E:_N: 0>1"),
		bad("too few arcs", "p sp 2 2\na 1 2 3\n", "found 1 rows, expected 2"),
		bad("a node 0", "p sp 2 1\na 0 1 3\n", "g.gr:2: found id 0, expected ids from 1"),
		bad("a node after the last", "p sp 2 1\na 1 3 3\n", "g.gr:2: found destination 2, expected"),
		bad("a word as a weight", "p sp 2 1\na 1 2 x\n", "g.gr:2: found \"x\" in column \"weight\", expected a number"),
		bad("an arc without a weight", "p sp 2 1\na 1 2\n", "g.gr:2: found \"a 1 2\", expected a and 3 numbers in a problem sp"),
		bad("an edge among arcs", "p sp 2 1\ne 1 2\n", "g.gr:2: found \"e 1 2\", expected a and 3 numbers"),
		bad("nodes of colouring", "p edge 2 1\nn 1 5\n", "g.gr:2: found \"n 1 5\", expected e and 2 numbers in a problem edge"),
		bad("another problem", "p max 2 1\na 1 2 3\n", "g.gr:1: found the problem \"max\", expected sp, edge or col"),
		bad("two graphs", "p sp 2 1\na 1 2 3\np sp 2 1\n", "g.gr:3: found a second line p, expected the one in line 1"),
		bad("an arc first", "c\na 1 2 3\np sp 2 1\n", "g.gr:2: found \"a 1 2 3\", expected a line p above the edges"),
		bad("comments alone", "c a\nc b\n", "g.gr: found no line p, expected one such as p sp 4 6"),
	})
}
