package cluster

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unsynced spares the tests the time until files are on the disk.
var unsynced = vfs.Unsynced{FS: vfs.OS}

// engine runs a Work in this process.
type engine struct {
	stagestest.Engine
	opened func(s *Site)
	jobs   []Job
}

// newEngine is an engine of two workers, which takes tasks in the order of a seed.
func newEngine(seed uint64) *engine {
	e := &engine{Engine: stagestest.Engine{Slots: 2, Order: shuffled(seed)}}
	e.Open = func(ctx context.Context, dir string) (stages.Site, error) {
		s, err := Open(ctx, unsynced, dir)
		if err != nil {
			workfolder.Fail(unsynced, dir, err)
			return nil, err
		}
		e.jobs = append(e.jobs, s.Work.Job)
		if e.opened != nil {
			e.opened(s)
		}
		return s, nil
	}
	return e
}

// divided is the number of stores with shards that sums joined.
var divided int

// sums are the checksums of the files of a store, whose shards are joined first.
func sums(t testing.TB, w *store.Writer, meta *store.Meta, dir string) string {
	t.Helper()
	if err := errors.Join(w.Seal(context.Background(), meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	whole := dir + ".whole"
	again, err := store.Create(unsynced, whole, false)
	if err != nil {
		t.Fatal(err)
	}
	switch err := store.Join(context.Background(), unsynced, dir, again, 1, func(int) {}); {
	case errors.Is(err, store.ErrJoined):
		whole, err = dir, again.Abort()
		if err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(errors.Join(err, again.Abort()))
	default:
		divided++
		if err := again.Publish(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(whole, store.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// alone imports in this process.
func alone(t testing.TB, path string, o ingest.Options, opt assemble.Options) (string, *assemble.Result, error) {
	t.Helper()
	src, err := ingest.Open(context.Background(), vfs.OS, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Collect(context.Background(), 2, 0, opt.Homogeneous); err != nil {
		return "", nil, err
	}
	dir := filepath.Join(t.TempDir(), "alone")
	w, err := store.Create(unsynced, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	res, err := assemble.Build(context.Background(), unsynced, w, src.Input, opt)
	if err != nil {
		return "", nil, errors.Join(err, w.Abort())
	}
	return sums(t, w, res.Meta, dir), res, nil
}

// together imports by an engine.
func together(t testing.TB, path string, o ingest.Options, opt assemble.Options, e *engine, sizes Run) (string, *assemble.Result, error) {
	t.Helper()
	src, err := ingest.Open(context.Background(), vfs.OS, path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Collect(context.Background(), 1, 0, opt.Homogeneous); err != nil {
		return "", nil, err
	}
	dir := filepath.Join(t.TempDir(), "together")
	w, err := store.Create(unsynced, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	r := sizes
	r.FS, r.Dir, r.Engine, r.Source = unsynced, filepath.Join(filepath.Dir(dir), ".work"), e, src
	r.Work = Work{Source: path, Options: o, Rules: Rules{Primary: opt.Primary, Both: opt.Both, Homogeneous: opt.Homogeneous, NoPositions: opt.NoPositions,
		DanglingEdges: opt.DanglingEdges, DuplicateNodes: opt.DuplicateNodes, DuplicateEdges: opt.DuplicateEdges, SelfLoops: opt.SelfLoops}}
	res, err := r.Build(context.Background(), w)
	if kept, unknown := r.End(err); kept || unknown != nil {
		t.Errorf("found kept pieces %v, %v, expected none", kept, unknown)
	}
	if _, there := os.Stat(r.Dir); !errors.Is(there, fs.ErrNotExist) {
		t.Errorf("found the work folder after the run: %v", there)
	}
	if err != nil {
		err = errors.Join(err, w.Abort())
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) > 0 {
			t.Errorf("found %v after an error", entries)
		}
		return "", nil, err
	}
	return sums(t, w, res.Meta, dir), res, nil
}

// tables is a random graph.yaml with its tables.
type tables struct {
	*rapid.T
	dir  string
	yaml strings.Builder
	ids  map[string][]string
}

var words = []string{"x", "a b", "c,d", "say \"q\"", "line\nend", "", "ü", "0"}

// file writes a table as shards of CSV files.
func (g *tables) file(name string, header []string, rows [][]string) string {
	shards := rapid.IntRange(1, 3).Draw(g.T, "shards of "+name)
	for k := range shards {
		f, err := os.Create(filepath.Join(g.dir, fmt.Sprintf("%s-%05d-of-%05d.csv", name, k, shards)))
		if err != nil {
			g.Fatal(err)
		}
		w := csv.NewWriter(f)
		list := append([][]string{header}, rows[len(rows)*k/shards:len(rows)*(k+1)/shards]...)
		if err := errors.Join(w.WriteAll(list), f.Close()); err != nil {
			g.Fatal(err)
		}
	}
	return name + "-*.csv"
}

func (g *tables) number(label string, most int) int { return rapid.IntRange(0, most).Draw(g.T, label) }

// columns adds random columns to rows.
func (g *tables) columns(header []string, rows [][]string) (types string) {
	kinds := []string{"int64", "float32", "string", `"float32[2]"`, `"int32[]"`, `"string[]"`, "category", `"datetime[ms]"`, "{dtype: int8, missing: column}"}
	for k := range g.number("columns", 2) {
		kind := kinds[g.number("kind", len(kinds)-1)]
		name := fmt.Sprintf("c%d", k)
		types += fmt.Sprintf(", %s: %s", name, kind)
		header = append(header, name)
		for i := range rows {
			n := g.number("value", 3)
			var v string
			switch kind {
			case "int64":
				v = strconv.Itoa(n - 1)
			case "float32":
				v = fmt.Sprint(float32(n) / 2)
			case "string":
				v = words[n]
			case kinds[3]:
				v = fmt.Sprintf("%d %d", n, i)
			case kinds[4]:
				v = strings.TrimSpace(strings.Repeat(" 7", n))
			case kinds[6]:
				v = []string{"", "b", "a", "c"}[n]
			case kinds[7]:
				v = []string{"", "2024-02-29", "5", "1999-12-31T23:59:59.5+01:00"}[n]
			case kinds[8]:
				v = []string{"", "1", "2", "3"}[n]
			default:
				v = strings.Join([]string{"p", "q", "rs"}[:n], ";")
			}
			rows[i] = append(rows[i], v)
		}
	}
	return types
}

// graph writes tables of random types.
func (g *tables) graph() {
	g.ids = map[string][]string{}
	names := []string{"a", "b", "c"}[:1+g.number("types", 2)]
	g.yaml.WriteString("nodes:\n")
	for _, n := range names {
		kind := rapid.SampledFrom([]string{"text", "rows", "integers", "no table of text", "no table of integers", "count"}).Draw(g.T, "kind of "+n)
		count := g.number("nodes of "+n, 30)
		var rows [][]string
		for i := range count {
			id := strconv.Itoa(i)
			switch kind {
			case "text", "no table of text":
				id = fmt.Sprintf("%s %s%d", n, words[i%5], i)
			case "integers":
				id = strconv.Itoa(1000 - 3*i)
			}
			g.ids[n] = append(g.ids[n], id)
			rows = append(rows, []string{id})
		}
		switch kind {
		case "text", "rows", "integers":
			header := []string{"id"}
			types := g.columns(header, rows)
			for k := 0; strings.Contains(types, fmt.Sprintf(" c%d:", k)); k++ {
				header = append(header, fmt.Sprintf("c%d", k))
			}
			dtype := "integer"
			if kind == "text" {
				dtype = "string"
			}
			fmt.Fprintf(&g.yaml, "  %s: {table: \"%s\", id: {column: id, dtype: %s}, columns: {%s}}\n", n, g.file(n, header, rows), dtype, strings.TrimPrefix(types, ", "))
		case "no table of text":
			fmt.Fprintf(&g.yaml, "  %s: {id: {dtype: string}}\n", n)
		case "count":
			fmt.Fprintf(&g.yaml, "  %s: {count: %d}\n", n, max(count, 1))
			g.ids[n] = nil
			for i := range max(count, 1) {
				g.ids[n] = append(g.ids[n], strconv.Itoa(i))
			}
		default:
			fmt.Fprintf(&g.yaml, "  %s: {id: {dtype: integer}}\n", n)
		}
	}
	g.yaml.WriteString("edges:\n")
	for k := range 1 + g.number("edge types", 3) {
		src, dst := rapid.SampledFrom(names).Draw(g.T, "src"), rapid.SampledFrom(names).Draw(g.T, "dst")
		var rows [][]string
		if len(g.ids[src]) > 0 && len(g.ids[dst]) > 0 {
			for range g.number("edges", 60) {
				rows = append(rows, []string{g.end(src), g.end(dst), strconv.Itoa(g.number("rel", 1))})
			}
		}
		header := []string{"src", "dst", "rel"}
		types := g.columns(header, rows)
		for k := 0; strings.Contains(types, fmt.Sprintf(" c%d:", k)); k++ {
			header = append(header, fmt.Sprintf("c%d", k))
		}
		extra := ""
		if g.number("where", 2) == 0 {
			extra += ", where: {rel: 0}"
		}
		if src == dst && g.number("symmetrise", 2) == 0 {
			extra += ", symmetrise: true"
		} else if g.number("reverse", 3) == 0 {
			extra += fmt.Sprintf(", reverse: back%d", k)
		}
		name := fmt.Sprintf("e%d", k)
		fmt.Fprintf(&g.yaml, "  \"%s:%s:%s\": {table: \"%s\", columns: {%s}%s}\n", src, name, dst, g.file(name, header, rows), strings.TrimPrefix(types, ", "), extra)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "graph.yaml"), []byte(g.yaml.String()), 0o644); err != nil {
		g.Fatal(err)
	}
}

// end is an id of a type, mostly one of the first, and sometimes none of the table.
func (g *tables) end(n string) string {
	list := g.ids[n]
	i := g.number("end", len(list)-1)
	if rapid.Bool().Draw(g.T, "hub") {
		i /= 8
	}
	return list[i]
}

// TestSameBytes compares the store of an engine with the store of assemble.Build, for random tables.
func TestSameBytes(t *testing.T) {
	defer func(n int64) { limits.ShardAlign = n }(limits.ShardAlign)
	limits.ShardAlign = 8
	unsupported := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		g := &tables{T: rt, dir: dir}
		g.graph()
		opt := assemble.Options{Primary: graph.Direction(g.number("primary", 1)), Both: rapid.Bool().Draw(rt, "both"), Homogeneous: g.number("homogeneous", 3) == 0, NoPositions: g.number("no positions", 3) == 0,
			DanglingEdges:  rapid.SampledFrom([]assemble.Policy{assemble.Error, assemble.Drop, assemble.Zeros}).Draw(rt, "dangling"),
			DuplicateEdges: rapid.SampledFrom([]assemble.Policy{assemble.Keep, assemble.Drop}).Draw(rt, "duplicates"),
			SelfLoops:      rapid.SampledFrom([]assemble.Policy{assemble.Keep, assemble.Drop}).Draw(rt, "loops")}
		e := newEngine(rapid.Uint64().Draw(rt, "order"))
		e.Slots, e.Twice = 1+g.number("workers", 3), rapid.Bool().Draw(rt, "twice")
		sizes := Run{PartBytes: int64(rapid.IntRange(30, 800).Draw(rt, "part")), BucketBytes: int64(rapid.IntRange(16, 1000).Draw(rt, "bucket")),
			RangeBytes: int64(rapid.IntRange(12, 500).Draw(rt, "range")), Local: rapid.SampledFrom([]int64{-1, 1 << 20}).Draw(rt, "local"),
			Shards: g.number("shards", 5), ShardBytes: int64(rapid.IntRange(1, 500).Draw(rt, "shard"))}
		want, res, err := alone(t, dir, ingest.Options{}, opt)
		got, other, err2 := together(t, dir, ingest.Options{}, opt, e, sizes)
		if errors.Is(err2, ErrUnsupported) {
			unsupported++
			return
		}
		if err != nil || err2 != nil {
			if err == nil || err2 == nil {
				rt.Fatalf("%s\nfound %v, expected %v", g.yaml.String(), err2, err)
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s\n%s", g.yaml.String(), diff)
		}
		if diff := cmp.Diff([]any{res.Nodes, res.Edges}, []any{other.Nodes, other.Edges}); diff != "" {
			rt.Fatalf("%s\n%s", g.yaml.String(), diff)
		}
	})
	t.Logf("%d unsupported, %d divided", unsupported, divided)
}

// shuffled is an order of records that follows from a seed.
func shuffled(seed uint64) func(n int, swap func(i, j int)) {
	return rand.New(rand.NewPCG(seed, 1)).Shuffle
}

// write writes the files of a source and returns its folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// small is a source of two node tables and an edge table.
func small() map[string]string {
	return map[string]string{
		"graph.yaml": "nodes:\n  a: {table: a.csv}\n  b: {table: b.csv}\nedges:\n  \"a:to:b\": {table: e.csv}\n",
		"a.csv":      "id,x\na1,1\na2,2\n\"a\n3\",3\n",
		"b.csv":      "id\n7\n5\n",
		"e.csv":      "src,dst,w\na1,5,1\n\"a\n3\",7,2\na1,7,3\na1,5,4\n",
	}
}

// TestSources imports sources of all kinds of tables that can be cut into parts, and of some that cannot.
func TestSources(t *testing.T) {
	files := small()
	files["pairs.csv"] = "0,1\n5,2\n\n1,1\n"
	files["words.txt"] = "# comment\nx y\ny z\n\nz x\nx y\n"
	files["beside.yaml"] = "nodes: {p: {count: 9}}\nedges: {\"p:e:p\": {table: pairs.csv, names: [src, dst], columns: {w: w.txt}}}\n"
	files["w.txt"] = "1\n2\n3\n"
	for name, c := range map[string]struct {
		path string
		o    ingest.Options
		opt  assemble.Options
	}{
		"graph.yaml":        {path: "graph.yaml", opt: assemble.Options{Both: true}},
		"integers":          {path: "pairs.csv", o: ingest.Options{Columns: "src,dst"}, opt: assemble.Options{Both: true}},
		"number of nodes":   {path: "pairs.csv", o: ingest.Options{Columns: "src,dst", NumNodes: 10, Symmetrise: true}},
		"words":             {path: "words.txt", o: ingest.Options{Columns: "src,dst", IDs: 2}, opt: assemble.Options{Both: true}},
		"integers as words": {path: "pairs.csv", o: ingest.Options{Columns: "src,dst", IDs: 2}},
		"side by side":      {path: "beside.yaml"},
		// Files of other programs, in place.
		"names of rows":     {path: "../testdata/strangers/headers/rows.txt"},
		"separator":         {path: "../testdata/strangers/headers/excel.csv"},
		"trailing":          {path: "../testdata/strangers/headers/trailingrows.csv"},
		"comments":          {path: "../testdata/strangers/headers/comment.csv"},
		"decimals":          {path: "../testdata/strangers/columnar/number.parquet"},
		"large decimals":    {path: "../testdata/strangers/columnar/large.arrow", o: ingest.Options{Missing: []ingest.Missing{{Value: "nan"}}}},
		"floats":            {path: "../testdata/strangers/columnar/hugeint.parquet"},
		"negative integers": {path: "../testdata/strangers/columnar/negative.arrow"},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.path
			if !strings.HasPrefix(path, "..") {
				path = filepath.Join(write(t, files), path)
			}
			c.opt.DuplicateEdges, c.opt.SelfLoops = assemble.Keep, assemble.Keep
			for _, local := range []int64{-1, 1 << 20} {
				want, _, err := alone(t, path, c.o, c.opt)
				if err != nil {
					t.Fatal(err)
				}
				e := newEngine(1)
				e.Twice = true
				got, _, err := together(t, path, c.o, c.opt, e, Run{PartBytes: 5, Local: local})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if local > 0 && len(e.jobs) != 1 || local < 0 && e.jobs[len(e.jobs)-1] != Build {
					t.Errorf("found the jobs %v", e.jobs)
				}
			}
		})
	}
}

// TestErrors compares the errors of bad rows with the errors of assemble.Build, and says what a cluster refuses.
func TestErrors(t *testing.T) {
	keep := assemble.Options{DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep}
	for name, c := range map[string]struct {
		file, text string
		opt        func(o *assemble.Options)
		want       string
		refused    bool
	}{
		"dangling":        {file: "e.csv", text: "src,dst,w\na1,5,1\na1,6,1\n", want: `e.csv:3:4: found destination "6", expected an id of node type b; add the node`},
		"dangling text":   {file: "e.csv", text: "src,dst,w\na1,5,1\na9,7,1\n", want: `e.csv:3:1: found source "a9", expected an id of node type a`},
		"duplicate":       {file: "a.csv", text: "id,x\na1,1\na2,2\na1,3\n", want: `a.csv:4:1: found id "a1" again, first at`},
		"duplicate edge":  {file: "b.csv", text: "id\n7\n5\n", opt: func(o *assemble.Options) { o.DuplicateEdges = assemble.Error }, want: "e.csv:6: found an edge again, first at"},
		"bad value":       {file: "a.csv", text: "id,x\na1,1\na2\n", want: "a.csv:3:3: found 1 fields, expected 2"},
		"duplicate nodes": {file: "b.csv", text: "id\n7\n5\n", opt: func(o *assemble.Options) { o.DuplicateNodes = assemble.Drop }, want: "use graphmill import", refused: true},
		"unknown next to keys": {file: "graph.yaml", text: "nodes:\n  a: {table: a.csv}\n  b: {}\nedges:\n  \"a:to:b\": {table: e.csv}\n",
			want: "use graphmill import", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			files := small()
			files[c.file] = c.text
			dir := write(t, files)
			opt := keep
			if c.opt != nil {
				c.opt(&opt)
			}
			_, _, want := alone(t, dir, ingest.Options{}, opt)
			e := newEngine(1)
			_, _, err := together(t, dir, ingest.Options{}, opt, e, Run{PartBytes: 5})
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnsupported) != c.refused {
				t.Errorf("found %v, expected %q", err, c.want)
			}
			if !c.refused && (want == nil || !strings.Contains(want.Error(), c.want)) {
				t.Errorf("found %v without an engine, expected %q", want, c.want)
			}
			if c.refused && len(e.jobs) > 0 {
				t.Errorf("found the jobs %v, expected none", e.jobs)
			}
		})
	}
}

// TestFaults lets workers fail in every stage. Nothing is left then, and the error of the worker is told.
func TestFaults(t *testing.T) {
	dir := write(t, small())
	opt := assemble.Options{Both: true, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, DanglingEdges: assemble.Zeros}
	for stage := range 6 {
		broken := errors.New("broken")
		e := newEngine(1)
		e.Fail = func(n int) error {
			if n == stage {
				return broken
			}
			return nil
		}
		_, _, err := together(t, dir, ingest.Options{}, opt, e, Run{})
		if !errors.Is(err, broken) {
			t.Errorf("stage %d: found %v, expected the error of the worker", stage, err)
		}
	}
}

// TestOtherFiles opens a Work on a machine whose files differ.
func TestOtherFiles(t *testing.T) {
	dir := write(t, small())
	opt := assemble.Options{DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep}
	e := newEngine(1)
	path := filepath.Join(dir, "e.csv")
	e.Before = func() {
		if err := os.WriteFile(path, []byte("src,dst,w\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := together(t, dir, ingest.Options{}, opt, e, Run{})
	if err == nil || !strings.Contains(err.Error(), "e.csv: found 10 bytes, expected") {
		t.Errorf("found %v", err)
	}
}

// TestKey says what a stage answers to keys and records that no stage made.
func TestKey(t *testing.T) {
	dir := write(t, small())
	opt := assemble.Options{Both: true, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep}
	checked := false
	e := newEngine(1)
	e.opened = func(s *Site) {
		checked = true
		for stage := range len(s.stages) {
			for _, record := range [][]byte{{0}, {edgeKeys, 200}, {nodeKeys, 9}, {answers, 9}, {firstKeys, 0, 0, 9}, {hashes, 1}, make([]byte, 13)} {
				one := func() ([]byte, bool) {
					b := record
					record = nil
					return b, b != nil
				}
				if err := s.do(context.Background(), stage, 1<<40, one, func(int, int64, []byte) {}); err == nil && stage != 1 {
					t.Errorf("stage %d: found no error for a key beyond all", stage)
				}
			}
		}
		for stage, key := range map[int]int64{1: 0, 2: 2} {
			if err := s.do(context.Background(), stage, key, func() ([]byte, bool) { return []byte{0, 1}, true }, func(int, int64, []byte) {}); err == nil {
				t.Errorf("stage %d: found no error for a damaged record", stage)
			}
		}
	}
	if _, _, err := together(t, dir, ingest.Options{}, opt, e, Run{}); err != nil || !checked {
		t.Errorf("found %v", err)
	}
}
