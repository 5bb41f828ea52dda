package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// array writes a whole array and returns its name.
func array[T graph.Numbers](w *store.Writer, name string, dtype graph.DType, v ...T) (string, error) {
	a, err := w.Array(name, dtype)
	if err != nil {
		return "", err
	}
	_, err = a.Write(graph.Bytes(v))
	return name, errors.Join(err, a.Close())
}

// write makes a small store with two node types and one edge type, and a column of each form.
func write(fsys vfs.FS, out string, force bool) (err error) {
	w, err := store.Create(fsys, out, force)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	meta := &store.Meta{Format: 1, Kind: store.KindStore,
		Nodes: map[string]*store.NodesMeta{"a": {Count: 3, Columns: map[string]store.ColumnMeta{}}, "b/..": {Count: 2}},
		Edges: map[string]*store.EdgesMeta{}, Made: store.Made{Command: "test", Version: "0"}}
	for _, c := range []struct {
		name    string
		dtype   graph.DType
		shape   []int
		data    []byte
		ends    []uint32
		lengths [][]uint32
	}{
		{"x", graph.Float32, []int{2}, graph.Bytes([]float32{1, 2, 3, 4, 5, 6}), nil, nil},
		{"text", graph.String, nil, []byte("onethree"), []uint32{3, 3, 8}, nil},
		{"ragged", graph.Int64, []int{-1}, graph.Bytes([]int64{7, 8, 9}), nil, [][]uint32{{2, 0, 1}}},
		{"words", graph.String, []int{-1}, []byte("abc"), []uint32{1, 3}, [][]uint32{{0, 2, 0}}},
		{"deep", graph.Int32, []int{-1, 2, -1, 2}, graph.Bytes([]int32{1, 2, 3, 4, 5, 6}), nil, [][]uint32{{1, 0, 1}, {1, 0, 2, 0}}},
		{"#bf", graph.BFloat16, nil, graph.Bytes([]uint16{1, 2, 3}), nil, nil},
	} {
		cw, err := w.Column(store.NodesDir("a"), c.name, c.dtype, c.shape)
		if err != nil {
			return err
		}
		err = cw.Append(c.data, c.ends, c.lengths...)
		m, closeErr := cw.Close()
		if err := errors.Join(err, closeErr); err != nil {
			return err
		}
		meta.Nodes["a"].Columns[c.name] = m
	}
	cites := graph.EdgeType{Src: "a", Rel: "cites", Dst: "b/.."}
	e := &store.EdgesMeta{Count: 3, Primary: "in", Arrays: map[string]string{}}
	meta.Edges[cites.String()] = e
	dir := store.EdgesDir(cites)
	if e.Arrays["indptr"], err = array[uint32](w, dir+"/indptr.npy", graph.Uint32, 0, 1, 3); err != nil {
		return err
	}
	if e.Arrays["far"], err = array[uint32](w, dir+"/far.npy", graph.Uint32, 2, 0, 2); err != nil {
		return err
	}
	if err := w.Seal(ctx, meta, 2); err != nil {
		return err
	}
	if err := w.Report([]byte("<html>"), []byte("{}")); err != nil {
		return err
	}
	return w.Publish()
}

func TestWriteOpen(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	if err := write(vfs.OS, out, false); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := s.Graph.Nodes[0]
	var names []string
	for _, c := range a.Columns {
		names = append(names, c.Name)
	}
	if d := cmp.Diff([]string{"#bf", "deep", "ragged", "text", "words", "x"}, names); d != "" {
		t.Fatal(d)
	}
	if got := graph.View[float32](graph.FindColumn(a.Columns, "x").Row(1)); !cmp.Equal(got, []float32{3, 4}) {
		t.Errorf("x[1] = %v", got)
	}
	text := graph.FindColumn(a.Columns, "text")
	if got := fmt.Sprintf("%s|%s|%s", text.Text(0), text.Text(1), text.Text(2)); got != "one||three" {
		t.Errorf("text = %s", got)
	}
	if got := graph.FindColumn(a.Columns, "words").Offsets[0].U64; !cmp.Equal(got, []uint64{0, 0, 2, 2}) {
		t.Errorf("words: row offsets %v", got)
	}
	if deep := graph.FindColumn(a.Columns, "deep"); !cmp.Equal(deep.Offsets, []graph.Index{{U64: []uint64{0, 1, 1, 2}}, {U64: []uint64{0, 1, 1, 3, 3}}}) {
		t.Errorf("deep: offsets %v", deep.Offsets)
	} else if from, to := deep.Span(2, 3); from != 2 || to != 6 {
		t.Errorf("deep: row 2 has the values [%d, %d)", from, to)
	}
	e := s.Graph.Edges[0]
	if e.Type.String() != "a:cites:b/.." || !cmp.Equal(e.Adj[graph.In].Far.U32, []uint32{2, 0, 2}) || e.Adj[graph.Out] != nil {
		t.Errorf("edges %+v", e)
	}
	if v, err := store.Verify(ctx, vfs.OS, out, 2, nil); err != nil || len(v.Damage) > 0 || len(v.Unknown) > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestExistingOutput(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "s")
	for i, c := range []struct {
		prepare func()
		force   bool
		want    error
	}{
		{func() {}, false, nil},
		{func() {}, false, store.ErrExists},
		{func() {}, true, nil},
		{func() { os.Remove(filepath.Join(out, store.ManifestFile)) }, true, store.ErrExists},
		{func() { os.RemoveAll(out); os.Mkdir(out, 0o755) }, true, nil},
		{func() { os.RemoveAll(out); os.WriteFile(out, nil, 0o644) }, true, store.ErrExists},
		// The rest of a killed run does not affect the next one.
		{func() {
			os.RemoveAll(out)
			os.MkdirAll(filepath.Join(dir, ".s.partial", "nodes"), 0o755)
			os.WriteFile(filepath.Join(dir, ".s.partial", "graph.json"), nil, 0o644)
		}, false, nil},
	} {
		c.prepare()
		if err := write(vfs.OS, out, c.force); !errors.Is(err, c.want) {
			t.Fatalf("case %d: %v, want %v", i, err, c.want)
		}
		left, err := filepath.Glob(filepath.Join(dir, ".s*"))
		if err != nil || len(left) > 0 {
			t.Fatalf("case %d leaves %v, %v", i, left, err)
		}
	}
}

func TestTwoWriters(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := store.Create(vfs.OS, out, false); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("second writer: %v", err)
	}
}

// TestEveryCallFails fails each call of a run once. Then the output does not exist, or it is whole, and the error names
// the call.
func TestEveryCallFails(t *testing.T) {
	disk := vfs.Unsynced{FS: vfs.OS}
	count := &vfs.Fault{FS: disk}
	if err := write(count, filepath.Join(t.TempDir(), "s"), false); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		dir := t.TempDir()
		out := filepath.Join(dir, "s")
		err := write(&vfs.Fault{FS: disk, FailAt: i, Err: syscall.ENOSPC, Short: i%2 == 0}, out, false)
		_, there := os.Stat(out)
		if there == nil {
			if v, err := store.Verify(ctx, vfs.OS, out, 1, nil); err != nil || len(v.Damage) > 0 {
				t.Fatalf("call %d: a damaged output appeared: %+v, %v", i, v, err)
			}
		}
		// The call that checks whether the output exists may fail without an error, where the output does not exist.
		if err == nil && there != nil {
			t.Fatalf("call %d of %d failed and nothing was reported", i, count.Calls())
		}
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("call %d: error %v does not wrap the cause", i, err)
		}
		if err := write(disk, out, true); err != nil {
			t.Fatalf("call %d: the next run fails: %v", i, err)
		}
	}
}

// TestVerifyFindsDamage flips single bits and cuts files all over a store.
func TestVerifyFindsDamage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	if err := write(vfs.OS, out, false); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(out, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		file := files[r.IntN(len(files))]
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := append([]byte{}, good...)
		bit := r.IntN(8 * len(bad))
		if i%4 == 3 {
			bad = bad[:bit/8]
		} else {
			bad[bit/8] ^= 1 << (bit % 8)
		}
		if err := os.WriteFile(file, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		v, err := store.Verify(ctx, vfs.OS, out, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(out, file)
		named := false
		for _, d := range v.Damage {
			named = named || d.File == rel || strings.HasPrefix(rel, d.File) || strings.HasPrefix(rel, "report.") && strings.HasPrefix(d.File, "report.")
		}
		if !named {
			t.Fatalf("change %d of %s (bit %d) was not found: %+v", i, rel, bit, v.Damage)
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(files[len(files)/2]); err != nil {
		t.Fatal(err)
	}
	if v, err := store.Verify(ctx, vfs.OS, out, 2, nil); err != nil || len(v.Damage) != 1 {
		t.Fatalf("missing file: %+v, %v", v, err)
	}
}

// TestHostile opens folders with a valid manifest and invalid content.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(m *store.Meta, w *store.Writer) error
		open string // error of Open; "" where Check must find it
	}{
		{"path out of the folder", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["n"].Columns["x"] = store.ColumnMeta{File: "../../etc/passwd", DType: "uint8"}
			return nil
		}, "inside the folder"},
		{"absolute path", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["n"].Columns["x"] = store.ColumnMeta{File: "/etc/passwd", DType: "uint8"}
			return nil
		}, "inside the folder"},
		{"unknown end", func(m *store.Meta, w *store.Writer) error {
			m.Edges["n:e:m"] = &store.EdgesMeta{Primary: "in"}
			return nil
		}, `no node type "m"`},
		{"short offsets", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["n"].Count = 7
			return nil
		}, "expected 8"},
		{"negative count", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["n"].Count = -1
			return nil
		}, "node type n: found a count of -1"},
		{"a count of nodes that overflows", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["n"].Count = math.MaxInt
			return nil
		}, "node type n: found a count of 9223372036854775807"},
		{"a null node type", func(m *store.Meta, w *store.Writer) error {
			m.Nodes["z"] = nil
			return nil
		}, "node type z: found null"},
		{"a null edge type", func(m *store.Meta, w *store.Writer) error {
			m.Edges["n:z:n"] = nil
			return nil
		}, "edge type n:z:n: found null"},
		{"descending offsets", func(m *store.Meta, w *store.Writer) (err error) {
			m.Edges["n:e:n"].Arrays["indptr"], err = array[uint32](w, "p.npy", graph.Uint32, 0, 3, 2)
			return err
		}, ""},
		{"far id out of range", func(m *store.Meta, w *store.Writer) (err error) {
			m.Edges["n:e:n"].Arrays["far"], err = array[uint32](w, "f.npy", graph.Uint32, 0, 9)
			return err
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "s")
			w, err := store.Create(vfs.OS, out, false)
			if err != nil {
				t.Fatal(err)
			}
			m := &store.Meta{Format: 1, Kind: store.KindStore,
				Nodes: map[string]*store.NodesMeta{"n": {Count: 2, Columns: map[string]store.ColumnMeta{}}},
				Edges: map[string]*store.EdgesMeta{"n:e:n": {Count: 2, Primary: "in", Arrays: map[string]string{}}}}
			e := m.Edges["n:e:n"]
			if e.Arrays["indptr"], err = array[uint32](w, "indptr.npy", graph.Uint32, 0, 1, 2); err != nil {
				t.Fatal(err)
			}
			if e.Arrays["far"], err = array[uint32](w, "far.npy", graph.Uint32, 0, 1); err != nil {
				t.Fatal(err)
			}
			if err := c.edit(m, w); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Seal(ctx, m, 1), w.Publish()); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(vfs.OS, out)
			if c.open != "" {
				if err == nil || !strings.Contains(err.Error(), c.open) {
					t.Fatalf("Open: %v, want an error with %q", err, c.open)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Check(ctx); !errors.Is(err, store.ErrDamaged) {
				t.Fatalf("Check: %v", err)
			}
		})
	}
}

// TestCopy checks that a copy is whole and equal, and that damage is found while it is made.
func TestCopy(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	w, err := store.Create(vfs.OS, from, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteFile("a/b.txt", []byte("hello")), w.Seal(t.Context(), nil, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	copied := 0
	if err := store.Copy(t.Context(), vfs.OS, from, to, func(n int) { copied += n }); err != nil || copied != 5 {
		t.Fatalf("found %d bytes and %v, expected 5", copied, err)
	}
	for _, name := range []string{"a/b.txt", store.ManifestFile, store.ManifestSumFile} {
		a, errA := os.ReadFile(filepath.Join(from, name))
		b, errB := os.ReadFile(filepath.Join(to, name))
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: found %q and %v, expected %q", name, b, err, a)
		}
	}
	if err := os.WriteFile(filepath.Join(from, "a/b.txt"), []byte("hallo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Copy(t.Context(), vfs.OS, from, filepath.Join(t.TempDir(), "to"), func(int) {}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("found %v, expected ErrDamaged", err)
	}
}
