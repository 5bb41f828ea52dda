package cluster

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// unsynced spares the tests the time until files are on the disk.
var unsynced = vfs.Unsynced{FS: vfs.OS}

// engine runs a Work in this process. It calls each function twice where twice is set, as an engine does after a fault.
type engine struct {
	workers int
	twice   bool
	order   func(n int, swap func(i, j int))
	fail    func(stage int) error
	jobs    []Job
}

func (e *engine) Workers() int { return e.workers }

type record struct {
	key int64
	b   []byte
}

func (e *engine) Run(ctx context.Context, dir string, tasks int64, stages int) (err error) {
	s, err := Open(ctx, unsynced, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	e.jobs = append(e.jobs, s.Work.Job)
	var records []record
	call := func(stage int, key int64, list [][]byte) (out []record, err error) {
		for range 2 {
			out = nil
			rest := list
			err := s.Do(ctx, stage, key, func() ([]byte, bool) {
				if len(rest) == 0 {
					return nil, false
				}
				b := rest[0]
				rest = rest[1:]
				return b, true
			}, func(k int64, b []byte) { out = append(out, record{k, b}) })
			if err == nil && e.fail != nil {
				err = e.fail(stage)
			}
			if err != nil {
				return nil, s.Failed(err)
			}
			if !e.twice {
				break
			}
		}
		return out, nil
	}
	for stage := range stages {
		byKey := map[int64][][]byte{}
		if stage == 0 {
			for k := range tasks {
				byKey[k] = nil
			}
		}
		e.order(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		for _, r := range records {
			byKey[r.key] = append(byKey[r.key], r.b)
		}
		records = nil
		for key, list := range byKey {
			out, err := call(stage, key, list)
			if err != nil {
				return err
			}
			records = append(records, out...)
		}
	}
	if len(records) > 0 {
		return fmt.Errorf("found %d records of the last stage", len(records))
	}
	return nil
}

// sums are the checksums of the files of a store.
func sums(t testing.TB, w *store.Writer, meta *store.Meta, dir string) string {
	t.Helper()
	if err := errors.Join(w.Seal(context.Background(), meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, store.ManifestFile))
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
	dir := filepath.Join(t.TempDir(), "together")
	w, err := store.Create(unsynced, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	r := sizes
	r.FS, r.Dir, r.Engine, r.Source = unsynced, filepath.Join(filepath.Dir(dir), ".work"), e, src
	r.Work = Work{Source: path, Options: o, Rules: Rules{Primary: opt.Primary, Both: opt.Both, Homogeneous: opt.Homogeneous,
		DanglingEdges: opt.DanglingEdges, DuplicateNodes: opt.DuplicateNodes, DuplicateEdges: opt.DuplicateEdges, SelfLoops: opt.SelfLoops}}
	res, err := r.Build(context.Background(), w)
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
	kinds := []string{"int64", "float32", "string", `"float32[2]"`, `"int32[]"`, `"string[]"`}
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

// TestSameBytes compares the store of an engine with that of assemble.Build, for random tables.
func TestSameBytes(t *testing.T) {
	unsupported := 0
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		g := &tables{T: rt, dir: dir}
		g.graph()
		opt := assemble.Options{Primary: graph.Direction(g.number("primary", 1)), Both: rapid.Bool().Draw(rt, "both"), Homogeneous: g.number("homogeneous", 3) == 0,
			DanglingEdges:  rapid.SampledFrom([]assemble.Policy{assemble.Error, assemble.Drop, assemble.Zeros}).Draw(rt, "dangling"),
			DuplicateEdges: rapid.SampledFrom([]assemble.Policy{assemble.Keep, assemble.Drop}).Draw(rt, "duplicates"),
			SelfLoops:      rapid.SampledFrom([]assemble.Policy{assemble.Keep, assemble.Drop}).Draw(rt, "loops")}
		e := &engine{workers: 1 + g.number("workers", 3), twice: rapid.Bool().Draw(rt, "twice"), order: func(n int, swap func(i, j int)) {
			for i := range n {
				swap(i, rapid.IntRange(0, i).Draw(rt, "order"))
			}
		}}
		sizes := Run{PartBytes: int64(rapid.IntRange(30, 800).Draw(rt, "part")), BucketBytes: int64(rapid.IntRange(16, 1000).Draw(rt, "bucket")),
			RangeBytes: int64(rapid.IntRange(12, 500).Draw(rt, "range")), Local: rapid.SampledFrom([]int64{-1, 1 << 20}).Draw(rt, "local")}
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
	t.Logf("%d unsupported", unsupported)
}
