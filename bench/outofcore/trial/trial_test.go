//go:build unix

package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	exportchunk "github.com/graphmill/graphmill/internal/export/chunk"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes an output folder.
func write(t *testing.T, name string, fill func(w *store.Writer) (*store.Meta, error)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	w, err := store.Create(vfs.OS, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := fill(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rmat is an R-MAT graph of 2^15 nodes and 2^18 edges.
func rmat(t *testing.T) string {
	t.Helper()
	law, err := generate.NewRMAT(3, 15, 8)
	if err != nil {
		t.Fatal(err)
	}
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	in := assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Count: law.Nodes()}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: law, Src: end("src"), Dst: end("dst")}},
	}
	return write(t, "g.store", func(w *store.Writer) (*store.Meta, error) {
		r, err := assemble.Build(t.Context(), vfs.OS, w, in, assemble.Options{Threads: 2, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
		if err != nil {
			return nil, err
		}
		return r.Meta, nil
	})
}

func options(t *testing.T) Options {
	t.Helper()
	f, err := sample.ParseFanouts("5,4,3")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Seeds: 0.2, Fanouts: f, BatchSize: 256, Threads: 2, Epochs: 2, Memory: 1 << 30}
}

func TestDesignsSampleTheSame(t *testing.T) {
	dir, o := rmat(t), options(t)
	o.Chunks = write(t, "chunks", func(w *store.Writer) (*store.Meta, error) {
		s, err := store.Open(vfs.OS, dir)
		if err != nil {
			return nil, err
		}
		_, err = exportchunk.Write(t.Context(), w, s, exportchunk.Options{ChunkBytes: 1 << 20, Direction: "in"})
		return nil, errors.Join(err, s.Close())
	})
	var results []*Result
	edges := map[string]uint64{}
	for _, d := range Designs() {
		r, err := Run(t.Context(), vfs.OS, dir, d, o)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		if d.Name == "sweeps" {
			if r.SweepRate <= 0 || r.SequenceRate <= 0 {
				t.Errorf("sweeps: found %v and %v bytes per second, expected more than none", r.SweepRate, r.SequenceRate)
			}
			continue
		}
		// An in-degree below 5, 4 or 3 gives fewer edges.
		if r.Edges == 0 || r.Seconds <= 0 || r.PeakRSS <= 0 || r.Seeds < 1000 {
			t.Errorf("%s: found %+v", d.Name, r)
		}
		if d.Name == "chunks" {
			continue // expands nodes again that an earlier layer expanded
		}
		if edges[r.Scope] == 0 {
			edges[r.Scope] = r.Edges
		}
		if r.Edges != edges[r.Scope] {
			t.Errorf("%s: found %d sampled edges, expected %d", d.Name, r.Edges, edges[r.Scope])
		}
		if r.Digest == "" && d.Name != "mmap" {
			t.Errorf("%s: found no digest", d.Name)
		}
	}
	if err := Compare(results); err != nil {
		t.Error(err)
	}
	results[3].Digest = "0"
	if err := Compare(results); !errors.Is(err, ErrDiffer) {
		t.Errorf("found %v, expected %v", err, ErrDiffer)
	}
}

// Seeds have edges, and their number follows from the share.
func TestSeeds(t *testing.T) {
	dir, o := rmat(t), options(t)
	all := func(share float64) int {
		o.Seeds, o.Epochs = share, 1
		d := Designs()[0]
		r, err := Run(t.Context(), vfs.OS, dir, d, o)
		if err != nil {
			t.Fatal(err)
		}
		return r.Seeds
	}
	whole, tenth := all(1), all(0.1)
	if whole >= 1<<15 || tenth != whole/10 {
		t.Errorf("found %d seeds of all and %d of a tenth", whole, tenth)
	}
}

func TestRefused(t *testing.T) {
	dir := rmat(t)
	for name, set := range map[string]func(*Options, *Design){
		"share 0":   func(o *Options, _ *Design) { o.Seeds = 0 },
		"share 1.1": func(o *Options, _ *Design) { o.Seeds = 1.1 },
		"no seed":   func(o *Options, _ *Design) { o.Seeds = 1e-9 },
		"no chunks": func(_ *Options, d *Design) { *d = Designs()[7] },
		"too little for mmap": func(o *Options, d *Design) {
			*d = Designs()[8]
			o.Memory = 1 << 20
		},
	} {
		o, d := options(t), Designs()[0]
		set(&o, &d)
		if _, err := Run(t.Context(), vfs.OS, dir, d, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: found %v, expected %v", name, err, ErrOptions)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range Designs() {
		if d.Name == "chunks" {
			continue
		}
		if _, err := Run(ctx, vfs.OS, dir, d, options(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %v, expected %v", d.Name, err, context.Canceled)
		}
	}
}

func TestParseDesigns(t *testing.T) {
	list, err := ParseDesigns("sweeps,windows")
	if err != nil || len(list) != 2 || list[0].Name != "windows" || list[1].Name != "sweeps" {
		t.Errorf("found %v, %v", list, err)
	}
	if _, err := ParseDesigns("window,windoes"); !errors.Is(err, ErrOptions) {
		t.Errorf("found %v, expected %v", err, ErrOptions)
	}
}

// The process stays within a limit because pieces of maps are given back.
func TestKeeper(t *testing.T) {
	const size = 64 << 20
	name := filepath.Join(t.TempDir(), "map")
	if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, unmap, err := f.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unmap() }()
	before := resident(vfs.OS)
	if before == 0 {
		t.Skip("this system does not tell")
	}
	sum := byte(0)
	for i := 0; i < len(b); i += 4096 {
		sum += b[i]
	}
	k := &keeper{fs: vfs.OS, limit: before + size/2, maps: []*mapping{{b, f}}}
	if got := resident(vfs.OS); got < before+size*3/4 {
		t.Fatalf("found %d bytes resident of %d more than %d", got, size, before)
	}
	if err := k.keep(); err != nil || !k.reached() {
		t.Error(err, k.full)
	}
	if got := resident(vfs.OS); got > k.limit || got < before {
		t.Errorf("found %d bytes resident, expected %d to %d; %d", got, before, k.limit, sum)
	}
	if err := k.empty(); err != nil || k.reached() {
		t.Error(err, k.full)
	}
	k.limit = 1
	if err := k.keep(); !errors.Is(err, ErrOptions) {
		t.Errorf("found %v, expected %v", err, ErrOptions)
	}
}
