package ingest

import "testing"

// The text formats of LGL keep ids that are numbers, and leave out a column of weights that no line has.
func TestLargeGraph(t *testing.T) {
	e := func(name, file, text, want string, o Options) importCase {
		return importCase{name: name, files: map[string]string{file: text}, path: file, opts: o, want: want}
	}
	bad := func(name, file, text, want string) importCase {
		c := e(name, file, text, want, Options{})
		c.fails = true
		return c
	}
	missing := Options{Missing: []Missing{{"weight", "1"}}}
	runImports(t, []importCase{
		e("words", "g.ncol", "foo bar\n\n bar\tboo\r\n9 0", "_N 5: foo bar boo 9 0\n_N:_E:_N: 0>1 1>2 3>4", Options{}),
		e("numbers", "g.ncol", "0 2\n2 1\n", "_N 3:\n_N:_E:_N: 0>2 2>1", Options{}),
		e("numbers as texts", "g.ncol", "7 2\n", "_N 2: 7 2\n_N:_E:_N: 0>1", Options{IDs: idsString}),
		e("weights", "g.ncol", "# a comment\na b 1.5\nb a 12.3e5\n", "_N 2: a b\n_N:_E:_N: 0>1 weight=1.5 1>0 weight=1.23e+06", Options{}),
		e("whole weights", "g.ncol", "a b 1\nb a 3\n", "_N 2: a b\n_N:_E:_N: 0>1 weight=1 1>0 weight=3", Options{}),
		e("weights of some", "g.ncol", "a b\nb a 3\n", "_N 2: a b\n_N:_E:_N: 0>1 weight=1 1>0 weight=3", missing),
		e("compressed", "g.ncol.gz", gzipped("a b\n"), "_N 2: a b\n_N:_E:_N: 0>1", Options{}),
		e("comments alone", "g.ncol", "#\n", "_N 0:\n_N:_E:_N:", Options{}),
		bad("weights of some, without a rule", "g.ncol", "a b\nb a 3\n", "g.ncol:1: found \"\" in column \"weight\", expected an integer"),
		bad("words as weights", "g.ncol", "a b 1\nb c d e\n", "g.ncol:2: found 4 words, expected two nodes and perhaps a weight"),
		bad("one word", "g.ncol", "a b\nb\n", "g.ncol:2: found 1 words"),
		bad("not UTF-8", "g.ncol", "a b\nb \xff\n", "g.ncol:2:3: found the byte 0xff, expected UTF-8"),

		e("LGL", "g.lgl", "# foo\nbar\nfoobar 5\n# foobar\nbat\n# bat\n", "_N 4: bat foo bar foobar\n_N:_E:_N: 1>2 weight=1 1>3 weight=5 3>0 weight=1", missing),
		e("LGL, integers alone", "g.lgl", "# 0\n2\n# 5\n# 1\n", "_N 6:\n_N:_E:_N: 0>2", Options{}),
		e("LGL, a name alone", "g.lgl", "# 0\n2\n# x\n# x\n", "_N 3: x 0 2\n_N:_E:_N: 1>2", Options{}),
		e("LGL without weights", "g.lgl", "#1\n0\n2\n", "_N 3:\n_N:_E:_N: 1>0 1>2", Options{}),
		bad("a neighbour first", "g.lgl", "foo\n", "g.lgl:1: found a neighbour above the first node"),
		bad("two nodes", "g.lgl", "# foo bar\n", "g.lgl:1: found 2 words after #, expected a node"),
		bad("two neighbours", "g.lgl", "# foo\na 1 b\n", "g.lgl:2: found 3 words, expected a neighbour"),
	})
}

// Simple interactions are triples: the cells are separated by tabs if the file has some.
func TestSIF(t *testing.T) {
	e := func(name, text, want string, o Options) importCase {
		return importCase{name: name, files: map[string]string{"g.sif": text}, path: "g.sif", opts: o, want: want}
	}
	bad := func(name, text, want string) importCase {
		c := e(name, text, want, Options{})
		c.fails = true
		return c
	}
	column := Options{Relations: "column"}
	runImports(t, []importCase{
		e("blanks", "a pp b  c\n\nb pd a\nd\n", "entity 4: d a b c\nentity:pd:entity: 2>1\nentity:pp:entity: 1>2 1>3", Options{}),
		e("tabs", "a a\tp d\tb b\tc\r\nb b\tx\ta a\n", "entity 3: a a b b c\nentity:to:entity: 0>1 relation=\"p d\" 0>2 relation=\"p d\" 1>0 relation=\"x\"", column),
		e("a node with blanks alone", "a\tp\tb\nc d e\n", "entity 3: c d e a b\nentity:p:entity: 1>2", Options{}),
		bad("two cells", "a b\n", "g.sif:1:1: found 2 cells, expected a node alone, or a node, a relation and nodes"),
		bad("an empty cell", "a\t\tb\n", "g.sif:1:1: found an empty cell, expected a name between two tabs"),
		bad("not UTF-8", "a p \xff\n", "g.sif:1:5: found the byte 0xff"),
		e("nodes alone", "a\nb\na\n", "entity 2: a b", Options{}),
		// degenerate.sif of Cytoscape's own tests, which expect nine nodes and no edge.
		e("nodes alone, of Cytoscape", "YNL312W\nYNL314W\nYOL051W\nYOR194C\nYOR377W\nYPL075W\nYPL248C\nYPL259C\nYPR065W\n", "entity 9: YNL312W YNL314W YOL051W YOR194C YOR377W YPL075W YPL248C YPL259C YPR065W", Options{}),
		e("nodes alone, and a column", "a\nb p c\n", "entity 3: a b c\nentity:to:entity: 1>2 relation=\"p\"", column),
	})
}

// Plain lists are read under all their extensions. The first bytes of a .net or .dat decide whether it is one.
func TestListNames(t *testing.T) {
	var cases []importCase
	for _, name := range []string{"g.edge", "g.dat", "g.ungraph", "g.konect", "g.net", "g.wel.gz"} {
		text := "# a comment\n0 1\n1 0\n"
		if name == "g.wel.gz" {
			text = gzipped(text)
		}
		cases = append(cases, importCase{name: name, files: map[string]string{name: text}, path: name, want: "_N 2:\n_N:_E:_N: 0>1 1>0"})
	}
	cases = append(cases,
		importCase{name: "weights of GAP", files: map[string]string{"g.wel": "0 1 900000000\n1 0 7\n"}, path: "g.wel", want: "_N 2:\n_N:_E:_N: 0>1 weight=9e+08 1>0 weight=7"},
		importCase{name: "KONECT", files: map[string]string{"g.konect": "% sym unweighted\n1 2\n"}, path: "g.konect", want: "_N 2:\n_N:_E:_N: 1>0 0>1\nwarning: g.konect:1: the network is undirected, so the reverse of each edge is added"},
		importCase{name: "bytes", files: map[string]string{"g.dat": "\x00\x01\xff\x02"}, path: "g.dat", want: "found the byte 0xff, expected UTF-8", fails: true},
	)
	runImports(t, cases)
}
