package graphmill_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// readings are the operations that read maps, as functions of the folder of inputs and of the output. Each opens what it reads.
func readings(t *testing.T, dir string) map[string]func(ctx context.Context, out string) error {
	run := option.Run{Threads: 2}
	all := map[string]func(ctx context.Context, out string) error{}
	for name := range operations(nil, dir, run) {
		if name == "import" || name == "generate" {
			continue
		}
		all[name] = func(ctx context.Context, out string) error {
			st, err := graphmill.Open(dir + "/g.store")
			if err != nil {
				return err
			}
			return errors.Join(operations(st, dir, run)[name](ctx, out), st.Close())
		}
	}
	opened := func(name string, f func(ctx context.Context, st *graphmill.Store, out string) error) {
		all[name] = func(ctx context.Context, out string) error {
			st, err := graphmill.Open(dir + "/wide.store")
			if err != nil {
				return err
			}
			return errors.Join(f(ctx, st, out), st.Close())
		}
	}
	opened("describe", func(_ context.Context, st *graphmill.Store, _ string) error {
		_, err := st.Describe()
		return err
	})
	opened("check", func(ctx context.Context, st *graphmill.Store, _ string) error { return st.Check(ctx) })
	opened("verify", func(ctx context.Context, _ *graphmill.Store, _ string) error {
		v, err := graphmill.Verify(ctx, dir+"/wide.store", option.Verify{Run: run})
		if err == nil && !v.OK { // a file that cannot be read is damage
			return errors.New(v.Damage[0].Found)
		}
		return err
	})
	opened("measure", func(ctx context.Context, st *graphmill.Store, _ string) error {
		_, err := graphmill.MeasureSampling(ctx, st, 40, option.Measure{Run: run, Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 16}})
		return err
	})
	opened("forecast", func(ctx context.Context, st *graphmill.Store, _ string) error {
		_, err := graphmill.Forecast(ctx, st, option.Sample{Run: run, Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 16}})
		return err
	})
	for name, o := range map[string]option.Batches{
		"batches":             {Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 64}},
		"batches by seed":     {Draw: option.Draw{Fanout: []int{3, 2}, Scope: option.ScopeSeed}, Batching: option.Batching{BatchSize: 64}, Columns: option.Columns{EdgeFeatures: []string{"weight"}}},
		"batches in an order": {Order: "weighted:x", Draw: option.Draw{Fanout: []int{3}}, Batching: option.Batching{BatchSize: 64}, Columns: option.Columns{Features: []string{"x"}}},
	} {
		o.Run = run
		opened(name, func(ctx context.Context, st *graphmill.Store, _ string) error {
			for _, err := range graphmill.Batches(ctx, st, o) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for name, o := range map[string]option.Sample{
		"sample features":    {Format: option.FormatTFRecord, Draw: option.Draw{Fanout: []int{3}, Scope: option.ScopeSeed}, Batching: option.Batching{LimitSeeds: 200}},
		"sample by weight":   {Draw: option.Draw{Fanout: []int{3, 2}, Weight: "weight"}, Batching: option.Batching{BatchSize: 64}},
		"sample induced":     {Draw: option.Draw{Fanout: []int{3, 2}, Subgraph: "induced"}, Batching: option.Batching{BatchSize: 64}},
		"sample out of core": {Draw: option.Draw{Fanout: []int{3, 2}, Executor: option.ExecutorStream}, Batching: option.Batching{BatchSize: 64}},
	} {
		o.Run = run
		opened(name, func(ctx context.Context, st *graphmill.Store, out string) error {
			_, err := graphmill.Sample(ctx, st, out, o)
			return err
		})
	}
	for name, o := range map[string]option.Export{
		"export chunked": {To: option.FormatChunked}, "export chunked parquet": {To: option.FormatChunked, Edges: "parquet", Features: "parquet"},
		"export metis": {To: option.FormatMETIS},
	} {
		o.Run = run
		opened(name, func(ctx context.Context, _ *graphmill.Store, out string) error {
			_, err := graphmill.Export(ctx, dir+"/wide.store", out, o)
			return err
		})
	}
	opened("export predictions", func(ctx context.Context, _ *graphmill.Store, out string) error {
		_, err := graphmill.ExportPredictions(ctx, dir+"/wide.store", out+".parquet", option.Predictions{Run: run, Type: "n", With: []string{"name", "x"}, Rows: "x=3", Arrays: []string{"score=" + dir + "/scores.npy"}})
		return err
	})
	opened("partition by fennel", func(ctx context.Context, _ *graphmill.Store, out string) error {
		_, err := graphmill.Partition(ctx, dir+"/wide.store", out, option.Partition{Run: run, Parts: 2, Method: option.MethodFennel})
		return err
	})
	opened("dispatch features", func(ctx context.Context, _ *graphmill.Store, out string) error {
		_, err := graphmill.Dispatch(ctx, dir+"/wide.store", "", out, option.Dispatch{Run: run, Parts: 2, OutEdges: true,
			DGLParts: option.DGLParts{NumHops: 2, SaveOrigNids: true, SaveOrigEids: true, GraphFormats: "coo,csc,csr"}})
		return err
	})
	opened("verify parts", func(ctx context.Context, _ *graphmill.Store, _ string) error {
		v, err := graphmill.Verify(ctx, dir+"/wide.parts", option.Verify{Run: run, Against: dir + "/wide.store"})
		if err == nil && !v.OK {
			t.Errorf("found %v, expected an error of the disk or none", v.Partition.Fault)
		}
		return err
	})
	opened("histogram", func(context.Context, *graphmill.Store, string) error {
		return graphmill.PackHistogram(dir+"/g.coll", io.Discard, option.PackHistogram{})
	})
	for _, format := range []option.Format{option.FormatCollection, option.FormatTFRecord} {
		opened("materialise as "+string(format), func(ctx context.Context, _ *graphmill.Store, out string) error {
			_, err := graphmill.Materialise(ctx, dir+"/plan", dir+"/g.coll", out, option.Materialise{Run: run, Format: format})
			return err
		})
	}
	return all
}

// wide adds a store with features, weights and edges in both directions, and its parts.
func wide(t *testing.T, dir string) {
	t.Helper()
	var edges, nodes strings.Builder
	edges.WriteString("src,dst,weight\n")
	nodes.WriteString("id,x,name\n")
	const n = 1500
	for i := range n {
		nodes.WriteString(strings.Join([]string{strconv.Itoa(i), strconv.Itoa(i%7 + 1), "node " + strconv.Itoa(i)}, ",") + "\n")
		for k := range 4 {
			edges.WriteString(strings.Join([]string{strconv.Itoa(i), strconv.Itoa((i*i + 31*k*i + k) % n), strconv.Itoa(k + 1)}, ",") + "\n")
		}
	}
	source := writeTables(t, map[string]string{"edges.csv": edges.String(), "nodes.csv": nodes.String(),
		"graph.yaml": "nodes:\n  n:\n    table: nodes.csv\n    id: id\nedges:\n  n:e:n:\n    table: edges.csv\n    src: src\n    dst: dst\n"})
	importTables(t, source, dir+"/wide.store", option.Import{Build: option.Build{Both: true}})
	writeNpy(t, dir, "scores.npy", "f4", []int{n}, make([]byte, 4*n))
	_, err := graphmill.Dispatch(t.Context(), dir+"/wide.store", "", dir+"/wide.parts", option.Dispatch{Parts: 2,
		DGLParts: option.DGLParts{SaveOrigNids: true, SaveOrigEids: true}})
	if err != nil {
		t.Fatal(err)
	}
}

// Whichever page of a map cannot be read, an operation that needs it returns an error with the path of the file, gives its
// output up and ends its goroutines. An operation that does not need the page makes the same output.
func TestMapFaults(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := inputs(t)
	wide(t, dir)
	all := readings(t, dir)
	disk := vfs.OS
	t.Cleanup(func() { vfs.OS = disk })
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			try := func(page int64) (fault *vfs.Fault, sums map[string]uint64, err error) {
				fault = &vfs.Fault{FS: vfs.Unsynced{FS: disk}, FailPage: page}
				folder := t.TempDir()
				vfs.OS = fault
				err = all[name](t.Context(), folder+"/out")
				vfs.OS = disk
				return fault, sumsOf(t, folder), err
			}
			fault, want, err := try(0)
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			// Pages far apart in the short form: opening a store for the stream executor measures the disk.
			step := int64(1)
			if !proof.Long(t) {
				step = 1 + fault.Pages()/mostPages
			}
			for page := int64(1); page <= fault.Pages(); page += step {
				_, sums, err := try(page)
				var at *guard.Error
				switch {
				case err == nil && !maps.Equal(sums, want):
					maps.DeleteFunc(sums, func(name string, sum uint64) bool { return want[name] == sum })
					t.Errorf("page %d: found no error and other files %v", page, slices.Sorted(maps.Keys(sums)))
				case err == nil:
				case name == "verify" && strings.Contains(err.Error(), "input/output error"):
				case !errors.As(err, &at):
					t.Errorf("page %d: found %v, expected an error of a page", page, err)
				case !strings.Contains(err.Error(), at.Path+": byte ") || !strings.Contains(err.Error(), "input/output error"):
					t.Errorf("page %d: found %v, expected its file and byte", page, err)
				case len(sums) > 0:
					t.Errorf("page %d: found %v after the error %v", page, slices.Sorted(maps.Keys(sums)), err)
				default:
					failed++
				}
			}
			if failed == 0 && name != "verify" {
				t.Errorf("found no page of %d that is read", fault.Pages())
			}
		})
	}
}

// mostPages is the number of pages of an operation that the short form fails.
const mostPages = 12

// sumsOf are checksums of the files below a folder, without those that have times.
func sumsOf(t *testing.T, folder string) map[string]uint64 {
	t.Helper()
	sums := map[string]uint64{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if name, _ := filepath.Rel(folder, path); !slices.Contains([]string{"report.json", "report.html", "report.xxh3", "manifest.json"}, d.Name()) {
			sums[name] = xxh3.Hash(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
