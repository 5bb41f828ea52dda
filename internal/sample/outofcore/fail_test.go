package outofcore

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// fanout is a plan of three hops over in-edges, and a job of all nodes.
func fanout(t testing.TB, s *store.Store, scope sample.Scope, seeds int) (*sample.Plan, sample.Job) {
	t.Helper()
	plan, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{5, 4, 3}}, sample.FanoutOptions{Dir: graph.In, Scope: scope, SeedType: []string{s.Graph.Nodes[0].Type}})
	if err != nil {
		t.Fatal(err)
	}
	job := sample.Job{BatchSize: 64, Seed: 3, Epochs: 2, Shuffle: true}
	for v := range seeds {
		job.Seeds = append(job.Seeds, uint32(v))
	}
	return plan, job
}

func runStream(ctx context.Context, fsys vfs.FS, s *store.Store, plan *sample.Plan, job sample.Job, opt Options, sink func(*lines) error) error {
	x, err := Open(ctx, fsys, s, plan, opt)
	if err != nil {
		return err
	}
	_, err = Run(ctx, x, job, newLines, encodeLine, sink)
	return errors.Join(err, x.Close())
}

// TestBudget checks that a budget divides a run into windows, and changes no subgraph.
func TestBudget(t *testing.T) {
	s := plainStore(t)
	for _, scope := range []sample.Scope{sample.ScopeBatch, sample.ScopeSeed} {
		plan, job := fanout(t, s, scope, 20_000)
		want, _ := memory(t, s, plan, job, Options{})
		sweeps := int64(0)
		for _, budget := range []int64{44 << 20, 1 << 30} {
			opt := Options{Threads: 2, Memory: budget, Design: Windows}
			got, _, counts := streamed(t, s, plan, job, opt)
			if !slices.Equal(got, want) {
				t.Errorf("scope %s: found other subgraphs with %d bytes", scope, budget)
			}
			if sweeps > 0 && counts.Sweeps >= sweeps {
				t.Errorf("scope %s: found %d sweeps with %d bytes, expected fewer than the %d with less", scope, counts.Sweeps, budget, sweeps)
			}
			sweeps = counts.Sweeps
		}
		if err := runStream(t.Context(), vfs.OS, s, plan, job, Options{Threads: 2, Memory: 28 << 20}, func(*lines) error { return nil }); !errors.Is(err, ErrMemory) {
			t.Errorf("found error %v with 28 MiB, expected one of memory", err)
		}
	}
}

// TestEveryCallFails checks that a call that fails ends the run with its error.
func TestEveryCallFails(t *testing.T) {
	s := typedStore(t)
	for _, design := range []Design{Windows, Condensed} {
		t.Run(design.String(), func(t *testing.T) { everyCallFails(t, s, Options{Threads: 2, Window: 2, Design: design}) })
	}
}

func everyCallFails(t *testing.T, s *store.Store, opt Options) {
	plan, job := fanout(t, s, sample.ScopeEpoch, 300)
	job.Epochs = 1
	count := &vfs.Fault{FS: vfs.OS}
	discard := func(out *lines) error { out.list = out.list[:0]; return nil }
	if err := runStream(t.Context(), count, s, plan, job, opt, discard); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	calls := count.Calls()
	for i := int64(1); i <= calls; i += max(1, calls/60) {
		f := &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}
		// The number of reads that measure the disk varies, so the last calls may not be made.
		if err := runStream(t.Context(), f, s, plan, job, opt, discard); !errors.Is(err, broken) && (err != nil || f.Calls() >= i) {
			t.Fatalf("call %d of %d: found error %v, expected that of the call", i, calls, err)
		}
	}
}

// TestDamage checks that a value that is no neighbour is refused with the file and the byte offset, and that a file
// that was cut is refused by name.
func TestDamage(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(t *testing.T, file string)
		want   string
	}{
		"far end": {func(t *testing.T, file string) {
			f, err := os.OpenFile(file, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			var bad []byte
			for range 1 << 20 {
				bad = binary.LittleEndian.AppendUint32(bad, 200_000)
			}
			if _, err := f.WriteAt(bad, 128); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}, "found neighbour 200000, expected less than 200000"},
		"cut": {func(t *testing.T, file string) {
			if err := os.Truncate(file, 2<<20); err != nil {
				t.Fatal(err)
			}
		}, "found 2097152 bytes, expected at least 6000128"},
	} {
		t.Run(name, func(t *testing.T) {
			s := makeStore(t, sampletest.PlainNodes, sampletest.PlainEdges, assemble.Options{})
			files, err := filepath.Glob(filepath.Join(s.Dir, "edges", "*", "far.npy"))
			if err != nil || len(files) != 1 {
				t.Fatalf("found files %q, expected one", files)
			}
			test.damage(t, files[0])
			plan, job := fanout(t, s, sample.ScopeEpoch, 2000)
			for _, design := range []Design{Windows, Condensed} {
				err = runStream(t.Context(), vfs.OS, s, plan, job, Options{Threads: 2, Design: design}, func(out *lines) error { out.list = out.list[:0]; return nil })
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "far.npy") {
					t.Errorf("%s: found error %v, expected %q", design, err, test.want)
				}
			}
		})
	}
}

// TestEnds checks that a run ends, with all its goroutines (TestMain), when its context ends or the caller fails.
func TestEnds(t *testing.T) {
	s := plainStore(t)
	for _, design := range []Design{Windows, Condensed} {
		plan, job := fanout(t, s, sample.ScopeEpoch, 2000)
		opt := Options{Threads: 2, Window: 3, Design: design}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := runStream(ctx, vfs.OS, s, plan, job, opt, func(out *lines) error {
			if n++; n == 5 {
				cancel()
			}
			out.list = out.list[:0]
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found error %v, expected that of the context", design, err)
		}
		full := errors.New("disk full")
		if err := runStream(t.Context(), vfs.OS, s, plan, job, opt, func(*lines) error { return full }); !errors.Is(err, full) {
			t.Errorf("%s: found error %v, expected that of the sink", design, err)
		}
	}
}

// TestRefuses checks that plans that need the neighbours in memory are refused.
func TestRefuses(t *testing.T) {
	s := plainStore(t) // has in-edges alone
	plan, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{5}}, sample.FanoutOptions{Dir: graph.Out, SeedType: []string{s.Graph.Nodes[0].Type}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, s, plan, Options{}); !errors.Is(err, sample.ErrFetch) || !strings.Contains(err.Error(), "`Both`") {
		t.Errorf("found error %v, expected one that names `Both`", err)
	}
	for name, edit := range map[string]func(p *sample.Plan){
		"all edges between their nodes": func(p *sample.Plan) { p.Kind = sample.Induced },
		"an exclusion":                  func(p *sample.Plan) { p.Exclude = &sample.Exclude{} },
		"strict negatives": func(p *sample.Plan) {
			p.Negatives = &sample.Negatives{How: sample.Binary, Each: 1, Strict: sample.StrictCount}
		},
		"times of nodes": func(p *sample.Plan) {
			p.Scope, p.Before = sample.ScopeSeed, &sample.Before{NodeColumns: map[string]string{p.SeedType[0]: "born"}}
		},
		"how labor": func(p *sample.Plan) {
			p.Ops = []sample.Op{{From: []int{0}, Edges: p.SeedEdges, Take: 1, How: sample.Labor}}
		},
		"how hgt": func(p *sample.Plan) {
			p.Ops = []sample.Op{{From: []int{0}, Edges: p.SeedEdges, Take: 1, How: sample.HGT}}
		},
		"negatives by degree": func(p *sample.Plan) {
			p.Negatives = &sample.Negatives{How: sample.Binary, Each: 1, By: sample.ByDegree}
		},
	} {
		g := s.Graph
		e := g.Edges[0].Type
		plan := &sample.Plan{SeedType: []string{e.Src, e.Dst}, SeedEdges: e.String(), Scope: sample.ScopeBatch}
		edit(plan)
		nodes := g.Nodes[g.NodeType(e.Src)]
		had := nodes.Columns
		nodes.Columns = append(slices.Clone(had), &graph.Column{Name: "born", DType: graph.Int64, Rows: nodes.Count, Values: make([]byte, 8*nodes.Count)})
		_, err := Open(t.Context(), vfs.OS, s, plan, Options{})
		nodes.Columns = had
		if !errors.Is(err, sample.ErrFetch) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "take the memory executor (`Executor`)") {
			t.Errorf("found error %v, expected one that names %s and the memory executor", err, name)
		}
	}
}
