package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestValuesOfEdgeList(t *testing.T) {
	e := func(text string) map[string]string { return map[string]string{"e.csv": text} }
	const head = "_N - :uint64\n_N:_E:_N e.csv src:uint64>dst:uint64 "
	times := "src,dst,at,day,on,n\n0,1,2024-01-01T00:00:00.25,2024-01-01,TRUE,1700000000000\n1,0,,2024-01-02 05:00,false,1700000000001\n"
	run(t, []sourceCase{
		{name: "by default", files: e(times), path: "e.csv", want: head + "at:datetime[ms] day:datetime[s] on:bool n:int64"},
		{name: "as asked", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:datetime[ns],day:string,n:datetime"}, want: head + "at:datetime[ns] day:string n:datetime[ms]"},
		{name: "times of their own unit", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:datetime,day:datetime,n:datetime[us]"}, want: head + "at:datetime[ms] day:datetime[s] n:datetime[us]"},
		{name: "a unit that is too coarse", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:datetime[s]"}, want: `e.csv:2:5: found "2024-01-01T00:00:00.25" in column "at", expected a whole number of s; give the column the dtype datetime[ms]`, err: table.ErrFormat},
		{name: "no unit", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:datetime[min]"}, want: "`Columns`: column \"at\": found type \"datetime[min]\": found unit of time \"min\", expected s, ms, us or ns", err: ErrUsage},
		{name: "after a unit", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:datetime[ms]x"}, want: "expected datetime[ms], or a shape in brackets after it", err: ErrUsage},
		{name: "no dtype", files: e(times), path: "e.csv", opts: Options{Columns: "src,dst,at:date"}, want: "datetime or category", err: ErrUsage},
		{name: "categories", files: e("src,dst,k\n0,1,b\n1,0,\n2,2,a\n"), path: "e.csv", opts: Options{Columns: "src,dst,k:category"}, want: head + "k:category(a,b)"},
		{name: "shapes", files: e("src,dst,k,t\n0,1,b;a,1;2\n1,0,c,\n"), path: "e.csv", opts: Options{Columns: "src,dst,k:category[],t:datetime[ms][]"}, want: head + "k:category(a,b,c)[-1] t:datetime[ms][-1]"},

		{name: "a range", files: e("src,dst,f0,f1,f2,w\n0,1,1,2,3,4\n"), path: "e.csv", opts: Options{Vectors: []string{"feat=f0:f2"}}, want: head + "w:int64 feat:int64[3]<f0+f1+f2"},
		{name: "a pattern", files: e("src,dst,f1,w,f0\n0,1,1,2,.5\n"), path: "e.csv", opts: Options{Vectors: []string{"feat=f*"}}, want: head + "w:int64 feat:float32[2]<f1+f0"},
		{name: "a list", files: e("src,dst,a,b,c\n0,1,1,2,3\n"), path: "e.csv", opts: Options{Vectors: []string{"x:float64=c,a", "y=b"}}, want: head + "x:float64[2]<c+a y:int64[1]<b"},
		{name: "a shape", files: e("src,dst,a,b,c,d\n0,1,1,2,3,4\n"), path: "e.csv", opts: Options{Vectors: []string{"x:float16[2,2]=a:d"}}, want: head + "x:float16[2,2]<a+b+c+d"},
		{name: "ends are no part of a pattern", files: e("from,f1,f2,to\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x=f*"}}, want: "_N - :uint64\n_N:_E:_N e.csv from:uint64>to:uint64 x:int64[2]<f1+f2"},
		{name: "another shape", files: e("src,dst,a,b\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x:int8[3]=a:b"}}, want: "found 2 columns for a vector of shape [3], expected 3", err: ErrSource},
		{name: "a range backwards", files: e("src,dst,a,b\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x=b:a"}}, want: `found the range "b:a" of columns, expected two of src, dst, a, b, in this order`, err: ErrSource},
		{name: "no column", files: e("src,dst,a,b\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x=q*"}}, want: `found no column that "q*" means`, err: ErrSource},
		{name: "twice", files: e("src,dst,a,b\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x=a,a:b"}}, want: `found the column "a" twice in a vector`, err: ErrSource},
		{name: "a vector of strings", files: e("src,dst,a,b\n0,1,1,x\n"), path: "e.csv", opts: Options{Vectors: []string{"x=a:b"}}, want: `found the column "b" of string[] in a vector, expected numbers`, err: ErrSource},
		{name: "no vector", files: e("src,dst,a,b\n0,1,1,2\n"), path: "e.csv", opts: Options{Vectors: []string{"x"}}, want: "`Vectors`: found \"x\", expected NAME=COLUMNS", err: ErrUsage},

		{name: "missing by kind", files: e("src,dst,f,i,s,k\n0,1,,,,\n1,1,.5,2,x,a\n"), path: "e.csv", opts: Options{Columns: "src,dst,f,i,s,k:category", Missing: []Missing{{"float", "nan"}, {"int", "-1"}, {"string", "?"}, {"category", "a"}}},
			want: head + "f:float32=nan i:int64=-1 s:string=?! k:category(a)=a!"},
		{name: "missing for all", files: e("src,dst,f,i,s,t\n0,1,,,,\n1,1,.5,2,x,2024-01-01\n"), path: "e.csv", opts: Options{Missing: []Missing{{"", "0"}}},
			want: head + "f:float32=0 i:int64=0 s:string t:datetime[s]"},
		{name: "the most specific rule", files: e("src,dst,f,g,h\n0,1,,,\n1,1,.5,2.5,1\n"), path: "e.csv", opts: Options{Columns: "src,dst,f,g,h:float64", Missing: []Missing{{"g", "7"}, {"float64", "6"}, {"float", "5"}, {"", "error"}}},
			want: head + "f:float32=5 g:float32=7! h:float64=6"},
		{name: "a column of marks", files: e("src,dst,f,t,s\n0,1,,,\n1,1,.5,2024-01-01,x\n"), path: "e.csv", opts: Options{Missing: []Missing{{"f", "column"}, {"datetime", "column"}, {"string", "column"}}},
			want: head + "f:float32=nan f_missing:bool(f) t:datetime[s] t_missing:bool(t) s:string s_missing:bool(s)"},
		{name: "marks of a vector", files: e("src,dst,a,b\n0,1,,1\n1,1,.5,2\n"), path: "e.csv", opts: Options{Vectors: []string{"v=a:b"}, Missing: []Missing{{"v", "column"}}},
			want: head + "v:float32[2]=nan<a+b v_missing:bool(v)[2]<a+b"},
		{name: "a value that does not fit, where no cell is empty", files: e("src,dst,i\n0,1,5\n"), path: "e.csv", opts: Options{Missing: []Missing{{"", "nan"}}}, want: head + "i:int64=nan"},
		{name: "a value that does not fit", files: e("src,dst,i\n0,1,5\n1,1,\n"), path: "e.csv", opts: Options{Missing: []Missing{{"", "nan"}}}, want: `e.csv:3:5: found "" in column "i", expected an integer from -9223372036854775808 to 9223372036854775807, which "nan" is not`, err: table.ErrFormat},
		{name: "an error for all", files: e("src,dst,t\n0,1,2024-01-01\n1,1,\n"), path: "e.csv", opts: Options{Missing: []Missing{{"", "error"}}}, want: `e.csv:3:5: found "" in column "t"`, err: table.ErrFormat},
		{name: "a column that is not there", files: e("src,dst,i\n0,1,5\n"), path: "e.csv", opts: Options{Missing: []Missing{{"j", "5"}}}, want: "`Missing`: found \"j\", expected a dtype, one of float, int, bool, string, datetime, category, or a column that is imported", err: ErrUsage},
	})
}

// A value that does not fit a column is an error at once where it was given for the column itself.
func TestMissingOfColumnFits(t *testing.T) {
	dir := folder(t, map[string]string{"e.csv": "src,dst,i\n0,1,5\n"})
	s, err := Open(t.Context(), vfs.OS, dir+"/e.csv", Options{Missing: []Missing{{"i", "x"}}})
	if err == nil {
		err = scanAll(s)
	}
	if err == nil || !strings.Contains(err.Error(), `column "i": found the fill value "x", expected an integer`) {
		t.Fatalf("found %v, want the value", err)
	}
}

func TestValuesOfGraphYAML(t *testing.T) {
	files := func(yaml string) map[string]string {
		return map[string]string{"graph.yaml": yaml,
			"p.csv": "id,born,kind,x0,x1,x2,y\na,2000-01-01,low,1,2,3,\nb,,high,4,5,6,1\n",
			"e.csv": "src,dst,at,kind\na,b,5,k2\nb,a,6,k1\n",
			"t.npy": "i8 2",
		}
	}
	yaml := func(nodes, more string) string {
		return "nodes: {p: {table: p.csv, id: id, columns: " + nodes + "}}\nedges: {\"p:e:p\": {table: e.csv}}\n" + more
	}
	const edges = "\np:e:p e.csv src:string>dst:string at:int64 kind:string"
	ok := func(name, yaml, want string) sourceCase {
		return sourceCase{name: name, files: files(yaml), want: want}
	}
	bad := func(name, yaml, want string) sourceCase {
		return sourceCase{name: name, files: files(yaml), want: want, err: ErrSource}
	}
	run(t, []sourceCase{
		ok("times and categories", yaml("{born: 'datetime[ms]', kind: category, t: {file: t.npy, dtype: datetime}}", ""), "p p.csv+t.npy id:string born:datetime[ms] kind:category(high,low) t:datetime[s]"+edges),
		ok("fixed categories", yaml("{kind: {dtype: category, categories: [low, mid, high]}}", ""), "p p.csv id:string kind:category(low,mid,high)"+edges),
		ok("categories say the dtype", yaml("{kind: {categories: [low, high]}}", ""), "p p.csv id:string kind:category(low,high)"+edges),
		ok("vectors", yaml("{x: {from: 'x*', dtype: float32}, v: {from: [x2, x0]}, w: {from: 'x1:x2'}}", ""), "p p.csv id:string x:float32[3]<x0+x1+x2 v:int64[2]<x2+x0 w:int64[2]<x1+x2"+edges),
		ok("missing", yaml("{y: {dtype: int8, missing: column}, x0: float64}", "missing: {float: nan, int: 7}"), "p p.csv id:string y:int8=0 y_missing:bool(y) x0:float64=nan\np:e:p e.csv src:string>dst:string at:int64=7 kind:string"),
		ok("the older name", yaml("{y: {dtype: int8, empty: 3}}", ""), "p p.csv id:string y:int8=3!"+edges),
		{name: "the option goes before the file", files: files(yaml("{y: {dtype: int8, missing: 3}}", "missing: {int: 4}")), opts: Options{Missing: []Missing{{"y", "5"}, {"int", "6"}}}, want: "p p.csv id:string y:int8=5!\np:e:p e.csv src:string>dst:string at:int64=6 kind:string"},
		bad("a category twice", yaml("{kind: {categories: [low, low]}}", ""), `found the category "low" twice`),
		bad("categories of numbers", yaml("{kind: {dtype: int8, categories: [low]}}", ""), "found categories of column \"kind\" with another dtype, expected the dtype category"),
		bad("from and file", yaml("{kind: {from: x0, file: t.npy}}", ""), "found from and file of column \"kind\""),
		bad("a vector of no column", yaml("{v: {from: 'q*'}}", ""), `column "v": found no column that "q*" means`),
		bad("a column in missing", yaml("{y: int8}", "missing: {y: 3}"), `found "y" in missing, expected a dtype, or one of float, int, bool, string, datetime, category; say what the empty cells of one column mean at that column`),
	})
	for yaml, want := range map[string]string{
		yaml("{kind: {categories: [low]}}", ""): `p.csv:3:4: found "high" in column "kind", expected one of the categories low; add it to the list of categories, or correct the cell`,
		yaml("{kind: datetime}", ""):            `p.csv:2:14: found "low" in column "kind", expected a time in ISO 8601`,
	} {
		dir := folder(t, files(yaml))
		s, err := Open(t.Context(), vfs.OS, dir, Options{})
		if err == nil {
			err = scanAll(s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %s", yaml, err, want)
		}
	}
}

func TestTimesByMagnitudeAreNoted(t *testing.T) {
	dir := folder(t, map[string]string{"e.csv": "src,dst,at\n0,1,1700000000000\n"})
	s, err := Open(t.Context(), vfs.OS, dir+"/e.csv", Options{Columns: "src,dst,at:datetime"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], `column "at": its integers are read as times in ms since 1970, by their size; give datetime[ms] to say so`) {
		t.Fatalf("found %q, want the unit", s.Warnings)
	}
}

// Edge types that read one table have the same categories, from one scan; a homogeneous graph has the categories of all columns of
// a name.
func TestCollect(t *testing.T) {
	dir := folder(t, map[string]string{
		"graph.yaml": "nodes: {p: {table: p.csv, columns: {k: category, f: {categories: [z, y]}}}, q: {table: q.csv, columns: {k: category, f: {categories: [y, z]}}}}\n" +
			"edges: {\"p:a:p\": {table: e.csv, where: {rel: 0}, columns: {k: category}}, \"p:b:p\": {table: e.csv, where: {rel: 1}, columns: {k: category}, reverse: c}}\n",
		"p.csv": "id,k,f\n0,b,z\n1,a,y\n", "q.csv": "id,k,f\n0,c,z\n", "e.csv": "src,dst,rel,k\n0,1,0,x\n1,0,1,y\n",
	})
	texts := func(homogeneous bool) string {
		s, err := Open(t.Context(), vfs.OS, dir, Options{})
		if err == nil {
			err = s.Collect(t.Context(), 2, 0, homogeneous)
		}
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range s.Input.Nodes {
			for _, c := range n.Columns {
				out = append(out, n.Type+strings.Join(c.Categories.Texts(), ""))
			}
		}
		for _, e := range s.Input.Edges {
			out = append(out, e.Type.Rel+strings.Join(e.Columns[0].Categories.Texts(), ""))
		}
		if s.Held == 0 {
			t.Error("found no memory, want that of the categories")
		}
		// A worker of a cluster opens the source again and takes what was found.
		again, err := Open(t.Context(), vfs.OS, dir, Options{})
		if err == nil {
			err = again.SetCollected(s.Collected())
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(show(s, dir), show(again, dir)); d != "" {
			t.Error(d)
		}
		return strings.Join(out, " ")
	}
	if got, want := texts(false), "pab pzy qc qyz axy bxy cxy"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if got, want := texts(true), "pabc pzy qabc qyz axy bxy cxy"; got != want {
		t.Errorf("homogeneous: found %s, want %s", got, want)
	}
	s, err := Open(t.Context(), vfs.OS, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Collect(t.Context(), 1, 100, false); err == nil || !strings.Contains(err.Error(), "after 100 bytes of categories, expected at most so many; give more `Memory`") {
		t.Errorf("found %v, want the memory", err)
	}
	if err := s.SetCollected(nil); err == nil {
		t.Error("found no error, want one about another number of columns")
	}
}

func TestHeaders(t *testing.T) {
	for header, want := range map[string]string{
		"Source,Target": "Source>Target", "FROM,TO": "FROM>TO", "from_id,to_id": "from_id>to_id", "Src_ID,Dst_ID": "Src_ID>Dst_ID",
		"source_id,target_id": "source_id>target_id", "FromNodeId,ToNodeId": "FromNodeId>ToNodeId", ":START_ID,:END_ID": ":START_ID>:END_ID",
		":START_ID(Person),:END_ID(Person),:TYPE": ":START_ID(Person)>:END_ID(Person)", "head,relation,tail": "head>tail", "u,v": "u>v",
		"source,destination":    "source>destination",
		"Src,src,dst":           "src>dst", // an exact name
		"from,to,source":        "from>to", // a pair that belongs together
		"u,v,Source,Target":     "u>v",     // exact names go before others
		"#source,#target,u,v":   "#source>#target",
		"src,dst,source,target": `found the columns "src" and "source", which can both be that one, expected one of them; name the column of the source`,
		"Src,SRC,dst":           `found the columns "Src" and "SRC", which can both be that one`,
		"src,To,TO":             `found the columns "To" and "TO", which can both be that one, expected one of them; name the column of the destination with ` + "`Src` and `Dst`",
		"a,b":                   "found the columns a, b, expected one of #source, :START_ID,",
	} {
		dir := folder(t, map[string]string{"e.csv": header + "\n" + strings.Repeat("0,", strings.Count(header, ",")) + "0\n"})
		s, err := Open(t.Context(), vfs.OS, dir+"/e.csv", Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = s.Input.Edges[0].Src.Name + ">" + s.Input.Edges[0].Dst.Name
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: found %s, want %s", header, got, want)
		}
	}
	for header, want := range map[string]string{
		"x,ID": "ID", "node_id,x": "node_id", "nodeId,x": "nodeId", "personId:ID(Person),name:string": "personId:ID(Person)", ":ID,age:int": ":ID", "x,y": "", "id,node_id": "id",
		"NODE_ID,nodeid": `found the columns "NODE_ID" and "nodeid"`,
	} {
		dir := folder(t, map[string]string{"p.csv": header + "\n0,0\n", "e.csv": "src,dst\n", "graph.yaml": "nodes: {p: {table: p.csv}}\nedges: {\"p:e:p\": {table: e.csv}}\n"})
		s, err := Open(t.Context(), vfs.OS, dir, Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = s.Input.Nodes[0].ID.Name
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: found %s, want %s", header, got, want)
		}
	}
}

func TestParseMissing(t *testing.T) {
	got, err := ParseMissing("float=nan, a b =x=y,0")
	if d := cmp.Diff([]Missing{{"float", "nan"}, {"a b", "x=y"}, {"", "0"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, s := range []string{"", "=x", "a=", "a=1,"} {
		if _, err := ParseMissing(s); err == nil || !strings.Contains(err.Error(), "expected VALUE, or WHAT=VALUE") {
			t.Errorf("%q: found %v, want an error", s, err)
		}
	}
}

func TestGlob(t *testing.T) {
	for pattern, names := range map[string]string{"f*": "f f1 feat", "*": " f", "f?": "f1 f2", "*a*b": "ab xaxb aab abab", "": "", "f*0": "f0 f10 f00", "**": " x"} {
		for name := range strings.SplitSeq(names, " ") {
			if !glob(pattern, name) {
				t.Errorf("%q: found no match with %q", pattern, name)
			}
		}
	}
	for pattern, names := range map[string]string{"f*": "g ef", "f?": "f f12", "*a*b": "ba abc", "f*0": "f f1 0"} {
		for name := range strings.SplitSeq(names, " ") {
			if glob(pattern, name) {
				t.Errorf("%q: found a match with %q", pattern, name)
			}
		}
	}
	if glob(strings.Repeat("*a", 1000), strings.Repeat("a", 999)+"b") {
		t.Error("found a match")
	}
}
