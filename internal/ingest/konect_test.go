package ingest

import "testing"

func TestSNAP(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"e.txt": text} }
	runImports(t, []importCase{
		{name: "counts and columns", files: one("# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\tSign\n0\t1\t-1\n2\t0\t1\n"), path: "e.txt", want: `
_N 3:
_N:_E:_N: 0>1 sign=-1 2>0 sign=1`},
		{name: "spaces", files: one("# From To\n0 1\n2  0\n"), path: "e.txt", want: `
_N 3:
_N:_E:_N: 0>1 2>0`},
		{name: "undirected", files: one("# Undirected graph: x.txt\n0\t1\n1\t1\n"), path: "e.txt", want: `
_N 2:
_N:_E:_N: 1>0 0>1 1>1
warning: e.txt:1: the comment says that the graph is undirected, so the reverse of each edge is added`},
		{name: "weight", files: one("0 1 0.5\n1 0 2\n"), path: "e.txt", want: `
_N 2:
_N:_E:_N: 0>1 weight=0.5 1>0 weight=2
warning: e.txt: the file has no header: its columns are read as src, dst and weight; name them with ` + "`Columns`" + ` if they are others`},
		{name: "time", files: one("0 1 1217567877\n1 0 1217573801\n"), path: "e.txt", want: `
_N 2:
_N:_E:_N: 0>1 time=1.217567877e+09 1>0 time=1.217573801e+09
warning: e.txt: the file has no header: its columns are read as src, dst and time; name them with ` + "`Columns`" + ` if they are others`},
		{name: "sparse", files: one("# Nodes: 3 Edges: 2\n0\t50\n900\t0\n"), path: "e.txt", opts: Options{IDs: idsString}, want: `
_N 3: 0 50 900
_N:_E:_N: 0>1 2>0`},
		{name: "four columns", files: one("0 1 2 3\n"), path: "e.txt", want: "for example `Columns` src,dst,weight:float32", fails: true},
		{name: "counts that differ", files: one("# Nodes: 2 Edges: 3\n0\t1\n"), path: "e.txt", want: `
_N 2:
_N:_E:_N: 0>1
warning: e.txt:1: found 1 edges, expected 3, as the comment says; is the file complete?`},
		{name: "ids with gaps", files: one("0\t1\n9\t0\n"), path: "e.txt", want: `
_N 10:
_N:_E:_N: 0>1 9>0
warning: e.txt: found ids up to 9, and at most 4 of them in use, so most nodes have no edges; give ` + "`IDs`" + ` string to number the ids by first appearance and keep them as a column`},
	})
}

func TestKONECT(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"out.x": text} }
	runImports(t, []importCase{
		{name: "undirected", files: one("% sym unweighted\n% 2 3 3\n1 2 \n3\t1 \n"), path: "out.x", want: `
_N 3:
_N:_E:_N: 1>0 0>1 2>0 0>2
warning: out.x:1: the network is undirected, so the reverse of each edge is added`},
		{name: "directed, weighted and timed", files: one("% asym positive\n1 2 1 1100000000\n3 1 2 1100000001\n"), path: "out.x", want: `
_N 3:
_N:_E:_N: 0>1 time=1.1e+09 weight=1 2>0 time=1.100000001e+09 weight=2`},
		{name: "more nodes", files: one("% asym unweighted\n% 1 2 2\n1 2\n"), path: "out.x", opts: Options{NumNodes: 4}, want: `
_N 4:
_N:_E:_N: 0>1`},
		{name: "bipartite", files: one("% bip weighted\n% 3 2 4\n1 1 .5\n2 4 1\n1 3 -2\n"), path: "out.x", want: `
left 2:
right 4:
left:_E:right: 0>0 weight=0.5 1>3 weight=1 0>2 weight=-2`},
		{name: "folder", files: map[string]string{"out.x": "% bip unweighted\n% 1 2 1\n2 1\n", "meta.x": "name: X\nentity-names: user, movie\n",
			"ent.x.movie.title": "Heat\n", "ent.x.user.name": "a b\nc\n", "README.x": "text", "ent.x.studio.name": "z\n"}, path: ".", want: `
left 2: name="a b" name="c"
right 1: title="Heat"
left:_E:right: 1>0
warning: ent.x.studio.name: not imported: the file meta.x does not say of which nodes it is`},
		{name: "names", files: map[string]string{"out.x": "% asym unweighted\n1 2\n", "ent.x": "ada\nbob\n"}, path: ".", want: `
_N 2: name="ada" name="bob"
_N:_E:_N: 0>1`},
		{name: "columns of nodes", files: map[string]string{"out.x": "% sym unweighted\n2 1\n", "ent.x": "%\n% ent dat.name dat.home\n\"1\" \"Ada\" \"London, UK\"\n\"2\" \"Bob\" \"?\"\n"}, path: ".", want: `
_N 2: home="London, UK" name="Ada" home="?" name="Bob"
_N:_E:_N: 1>0 0>1
warning: out.x:1: the network is undirected, so the reverse of each edge is added`},
		{name: "too few edges", files: one("% sym unweighted\n% 3 3 3\n1 2\n"), path: "out.x", want: "out.x: found 1 rows, expected 3, as the comment in line 2 says", fails: true},
		{name: "id 0", files: one("% asym unweighted\n1 2\n0 1\n"), path: "out.x", want: "out.x:3:1: found id 0, expected ids from 1", fails: true},
		{name: "id above the count", files: one("% asym unweighted\n% 1 2 2\n1 3\n"), path: "out.x", want: "out.x:3:3: found", fails: true},
		{name: "no number", files: one("% asym unweighted\n1 b\n"), path: "out.x", want: `out.x:2:3: found "b"`, fails: true},
		{name: "a weight that is no number", files: one("% asym weighted\n1 2 x\n"), path: "out.x", want: `out.x:2:5: found "x"`, fails: true},
		{name: "five columns", files: one("% asym weighted\n1 2 3 4 5\n"), path: "out.x", want: "found 5 columns, expected 2 to 4", fails: true},
		{name: "counts of two types", files: one("% sym unweighted\n% 1 2 3\n1 2\n"), path: "out.x", want: "out.x:2: found 2 and 3 nodes", fails: true},
		{name: "no header", files: one("1 2\n"), path: "out.x", opts: Options{Format: "konect"}, want: "out.x:1: found the first line \"1 2\"", fails: true},
		{name: "a count without edges", files: one("% sym unweighted\n% 1 9999999999999 9999999999999\n1 2\n"), path: "out.x", want: "is the count right?", fails: true},
		{name: "too few names", files: map[string]string{"out.x": "% asym unweighted\n% 1 2 2\n1 2\n", "ent.x": "ada\n"}, path: ".", want: "ent.x: found 1 rows, expected 2", fails: true},
	})
}
