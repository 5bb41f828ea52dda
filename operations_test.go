package graphmill_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store/storetest"
	"github.com/graphmill/graphmill/option"
)

// inputs makes what the operations below read: a store, a collection of subgraphs, an assignment and a layout.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := graphmill.GenerateRMAT(t.Context(), dir+"/g.store", option.RMAT{Scale: 9, EdgeFactor: 4, Seed: 1})
	must(err)
	defer st.Close()
	_, err = graphmill.Sample(t.Context(), st, dir+"/g.coll", option.Sample{Draw: option.Draw{Fanout: []int{3}, Scope: option.ScopeSeed}})
	must(err)
	_, err = graphmill.Partition(t.Context(), dir+"/g.store", dir+"/g.parts", option.Partition{Parts: 2})
	must(err)
	_, err = graphmill.Pack(t.Context(), dir+"/g.coll", dir+"/plan", option.Pack{Limits: limits})
	must(err)
	must(storetest.Divide(dir+"/g.store", dir+"/divided.store", 3, os.Getpagesize()))
	return dir
}

var limits = []option.PackLimit{{Component: "num_nodes", Max: 40}, {Component: "num_edges", Max: 60}}

// operations are all that write a folder, as functions of the folder of inputs and of the output.
func operations(st *graphmill.Store, dir string, run option.Run) map[string]func(ctx context.Context, out string) error {
	store, coll, plan := dir+"/g.store", dir+"/g.coll", dir+"/plan"
	return map[string]func(ctx context.Context, out string) error{
		"import": func(ctx context.Context, out string) error {
			st, err := graphmill.Import(ctx, "testdata/library", out, option.Import{Build: option.Build{Run: run}})
			if err == nil {
				err = st.Close()
			}
			return err
		},
		"generate like": func(ctx context.Context, out string) error {
			st, err := graphmill.GenerateLike(ctx, out, option.Like{Build: option.Build{Run: run}, Name: "ogbn-arxiv/100"})
			if err == nil {
				err = st.Close()
			}
			return err
		},
		"generate": func(ctx context.Context, out string) error {
			st, err := graphmill.GenerateCommunity(ctx, out, option.Community{Build: option.Build{Run: run}, Nodes: 300})
			if err == nil {
				err = st.Close()
			}
			return err
		},
		"sample": func(ctx context.Context, out string) error {
			_, err := graphmill.Sample(ctx, st, out, option.Sample{Run: run, Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 10}})
			return err
		},
		"join": func(ctx context.Context, out string) error {
			_, err := graphmill.Join(ctx, dir+"/divided.store", out, run)
			return err
		},
		"walk": func(ctx context.Context, out string) error {
			_, err := graphmill.Walk(ctx, store, out, option.Walk{Run: run, Length: 4})
			return err
		},
		"partition": func(ctx context.Context, out string) error {
			_, err := graphmill.Partition(ctx, store, out, option.Partition{Run: run, Parts: 3})
			return err
		},
		"dispatch": func(ctx context.Context, out string) error {
			_, err := graphmill.Dispatch(ctx, store, dir+"/g.parts", out, option.Dispatch{Run: run})
			return err
		},
		"partition-graph": func(ctx context.Context, out string) error {
			_, err := graphmill.PartitionGraph(ctx, store, out, option.PartitionGraph{Partition: option.Partition{Run: run, Parts: 2}})
			return err
		},
		"pack": func(ctx context.Context, out string) error {
			_, err := graphmill.Pack(ctx, coll, out, option.Pack{Run: run, Limits: limits})
			return err
		},
		"pack stream": func(ctx context.Context, out string) error {
			_, err := graphmill.PackStream(ctx, coll, out, option.PackStream{Pack: option.Pack{Run: run, Limits: limits}})
			return err
		},
		"fill": func(ctx context.Context, out string) error {
			_, err := graphmill.Fill(ctx, plan, coll, out, option.Fill{Run: run, Epochs: 3})
			return err
		},
		"materialise": func(ctx context.Context, out string) error {
			_, err := graphmill.Materialise(ctx, plan, coll, out, option.Materialise{Run: run})
			return err
		},
		"export": func(ctx context.Context, out string) error {
			_, err := graphmill.Export(ctx, coll, out, option.Export{Run: run, To: option.FormatTFRecord})
			return err
		},
		"chunk": func(ctx context.Context, out string) error {
			_, err := graphmill.Chunk(ctx, store, out, option.Chunk{Run: run})
			return err
		},
		"unigraph": func(ctx context.Context, out string) error {
			_, err := graphmill.StoreToUnigraph(ctx, store, out, option.UnigraphTables{Run: run})
			return err
		},
	}
}

// An operation whose context has ended leaves neither an output nor a part of one, and no goroutine.
func TestCancelled(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := inputs(t)
	st, err := graphmill.Open(dir + "/g.store")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, operation := range operations(st, dir, option.Run{}) {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := operation(ctx, folder+"/out"); !errors.Is(err, context.Canceled) {
				t.Errorf("found error %v, expected context.Canceled", err)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("found %v, %v, expected an empty folder", left, err)
			}
		})
	}
}

// An output that is there is kept, without Overwrite; with it, another output takes its place. Every output verifies, and
// progress comes at most ten times per second and ends each stage once.
func TestOutputs(t *testing.T) {
	dir := inputs(t)
	st, err := graphmill.Open(dir + "/g.store")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var mu sync.Mutex
	var stages []string
	calls := map[string]int{}
	run := option.Run{Threads: 2, Progress: func(p option.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if calls[p.Stage]++; p.End {
			stages = append(stages, p.Stage)
		}
		if p.Total > 0 && p.Done > p.Total {
			t.Errorf("stage %s: found %d of %d %s done", p.Stage, p.Done, p.Total, p.Unit)
		}
	}}
	again := run
	again.Overwrite = true
	replace := operations(st, dir, again)
	for name, operation := range operations(st, dir, run) {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir() + "/out"
			clear(calls)
			stages = nil
			start := time.Now()
			if err := operation(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			for stage, n := range calls {
				if most := 3 + int(time.Since(start)/(100*time.Millisecond)); n > most+5 { // a longer run may call more often
					t.Errorf("stage %s: found %d calls of Progress, expected at most %d", stage, n, most)
				}
			}
			if len(stages) == 0 && name != "pack" {
				t.Error("found no stage that ended")
			}
			v, err := graphmill.Verify(t.Context(), out, option.Verify{})
			if err != nil || !v.OK {
				t.Errorf("found %+v, %v, expected a whole output", v, err)
			}
			if err := operation(t.Context(), out); !errors.Is(err, graphmill.ErrExists) {
				t.Errorf("found error %v, expected ErrExists", err)
			}
			if err := replace[name](t.Context(), out); err != nil {
				t.Errorf("with Overwrite: %v", err)
			}
			if r, err := graphmill.RenderReport(out); err != nil || r.Output != out {
				t.Errorf("found %+v, %v, expected a report that names %s", r, err, out)
			}
		})
	}
}

// Options that an operation does not honour are refused, before anything is written.
func TestRefused(t *testing.T) {
	dir := inputs(t)
	st, err := graphmill.Open(dir + "/g.store")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	sample := func(o option.Sample) func(out string) error {
		o.Fanout = []int{2}
		return func(out string) error {
			_, err := graphmill.Sample(t.Context(), st, out, o)
			return err
		}
	}
	for name, operation := range map[string]func(out string) error{
		"shards": sample(option.Sample{Records: option.Records{Shards: 2}}),
		"more": func(out string) error {
			_, err := graphmill.Import(t.Context(), "testdata/library", out, option.Import{More: []string{"papers.csv"}})
			return err
		},
		"missing": func(out string) error {
			_, err := graphmill.StoreToUnigraph(t.Context(), dir+"/g.store", out, option.UnigraphTables{Missing: []string{"0"}})
			return err
		},
		"gzip": func(out string) error {
			_, err := graphmill.Export(t.Context(), dir+"/g.store", out, option.Export{To: option.FormatChunked, Gzip: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := operation(folder + "/out"); !errors.Is(err, graphmill.ErrUsage) {
				t.Errorf("found error %v, expected ErrUsage", err)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("found %v, %v, expected an empty folder", left, err)
			}
		})
	}
}
