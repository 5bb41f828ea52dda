package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	dispatchwork "github.com/graphmill/graphmill/internal/dispatch/cluster"
	importwork "github.com/graphmill/graphmill/internal/ingest/cluster"
	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	partitionwork "github.com/graphmill/graphmill/internal/partition/cluster"
	"github.com/graphmill/graphmill/internal/proof"
	samplework "github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// modelled runs cluster_model.py.
func modelled(t *testing.T, result any, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("found no python3, expected it for cluster_model.py")
	}
	if _, err := os.Stat("cluster_model.py"); err != nil { // the test runs again after a change of it
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-B", "cluster_model.py"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// weighed is an engine that measures the work folder after each task.
type weighed struct {
	stagestest.Engine
	dir             string
	phases          bool  // jobs lie in folders of the work folder
	records, pieces int64 // bytes, peaks
	tasks           int64
}

func newWeighed(open func(ctx context.Context, dir string) (stages.Site, error)) *weighed {
	e := &weighed{Engine: stagestest.Engine{Slots: 2, Open: open}}
	e.Fail = func(int) error { e.weigh(); return nil }
	return e
}

func (e *weighed) Run(ctx context.Context, dir string, list []stages.Stage) error {
	if e.dir = dir; e.phases {
		e.dir = filepath.Dir(dir)
	}
	for _, s := range list {
		e.tasks += s.Tasks
	}
	return e.Engine.Run(ctx, dir, list)
}

func (e *weighed) weigh() {
	var records, pieces int64
	_ = filepath.WalkDir(e.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // it is gone
		}
		if info, err := d.Info(); err != nil {
			return nil // as above
		} else if strings.Contains(name, "/records") {
			records += info.Size()
		} else {
			pieces += info.Size()
		}
		return nil
	})
	e.records, e.pieces = max(e.records, records), max(e.pieces, pieces)
}

// TestClusterModelBytes compares the bytes of the work folders of small jobs with what the model predicts: records within a fifth, pieces within a quarter.
func TestClusterModelBytes(t *testing.T) {
	const nodes, edges, fanout = 1 << 14, 16 << 14, 10
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for range edges {
		text = fmt.Appendf(text, "%d\t%d\n", int(r.Float64()*r.Float64()*nodes), int(r.Float64()*r.Float64()*nodes))
	}
	table, name := filepath.Join(dir, "edges.tsv"), filepath.Join(dir, "g.store")
	if err := os.WriteFile(table, text, 0o600); err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, e *weighed, job map[string]any) {
		t.Helper()
		b, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "job.json")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var told struct {
			Records float64 `json:"records_bytes"`
			Pieces  float64 `json:"pieces_bytes"`
		}
		modelled(t, &told, "--bytes", file)
		for _, x := range []struct {
			what        string
			told, found float64
			within      float64
		}{{"records", told.Records, float64(e.records), 0.2}, {"pieces", told.Pieces, float64(e.pieces), 0.25}} {
			if x.told < x.found*(1-x.within)-4096 || x.told > x.found*(1+x.within)+4096 {
				t.Errorf("%s: found %.0f bytes, expected the %.0f of the model within %.0f %%", x.what, x.found, x.told, 100*x.within)
			}
		}
	}
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprint("import, both ", both), func(t *testing.T) {
			e := newWeighed(func(ctx context.Context, dir string) (stages.Site, error) { return importwork.Open(ctx, vfs.OS, dir) })
			st, _, err := importing.Import(t.Context(), table, filepath.Join(t.TempDir(), "out"), option.Import{Build: option.Build{Both: both}}, &importing.Cluster{Engine: e})
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			compare(t, e, map[string]any{"op": "import", "workers": 2, "edges": edges, "nodes": nodes, "both": both, "text_bytes": len(text)})
		})
	}
	st, _, err := importing.Import(t.Context(), table, name, option.Import{Build: option.Build{Both: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, method := range []sampling.ClusterMethod{sampling.ClusterLocal, sampling.ClusterShuffle} {
		t.Run("sample, "+string(method), func(t *testing.T) {
			e := newWeighed(func(_ context.Context, dir string) (stages.Site, error) { return samplework.Open(vfs.OS, dir) })
			var o option.Sample
			o.Fanout, o.Format, o.Scope, o.Shards = []int{fanout, 5}, option.FormatTFRecord, "seed", 1
			out := filepath.Join(t.TempDir(), "out")
			report, err := sampling.Sample(t.Context(), st, out, o, &sampling.Cluster{Engine: e, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string]int64{}
			for _, x := range report.OutItems {
				if x.Value.Count != nil {
					counts[x.Label] = *x.Value.Count
				}
			}
			info, err := os.Stat(filepath.Join(out, "samples.tfrecord-00000-of-00001"))
			if err != nil {
				t.Fatal(err)
			}
			// All nodes of the first hop are expanded, once per edge that leads to them.
			requests := counts["requests to ranges"]
			compare(t, e, map[string]any{"op": string(method), "workers": 2, "seeds": counts["subgraphs"], "requests": requests, "answered": counts["edges"] - requests, "edges": counts["edges"],
				"most_edges": fanout + 5*fanout, "hops": 2, "nodes": nodes, "ids": false, "output_bytes": info.Size()})
		})
	}
	t.Run("dispatch", func(t *testing.T) {
		e := newWeighed(func(_ context.Context, dir string) (stages.Site, error) { return dispatchwork.Open(vfs.OS, dir) })
		if _, err := dispatching.Dispatch(t.Context(), name, "", filepath.Join(t.TempDir(), "out"), option.Dispatch{Parts: 4}, &dispatching.Cluster{Engine: e}); err != nil {
			t.Fatal(err)
		}
		compare(t, e, map[string]any{"op": "dispatch", "workers": 2, "edges": edges, "parts": 4, "nodes": nodes})
	})
	t.Run("partition", func(t *testing.T) {
		proof.OnlyLong(t, "a division in 170 rounds, whose files are synced one by one")
		e := newWeighed(func(_ context.Context, dir string) (stages.Site, error) { return partitionwork.Open(vfs.OS, dir) })
		e.phases = true
		if _, err := dividing.Partition(t.Context(), name, filepath.Join(t.TempDir(), "out"), option.Partition{Parts: 4}, &dividing.Cluster{Engine: e}); err != nil {
			t.Fatal(err)
		}
		compare(t, e, map[string]any{"op": "partition", "workers": 2, "edges": edges, "nodes": nodes})
	})
}

// TestClusterModelForecast checks what must hold of every row of the table.
func TestClusterModelForecast(t *testing.T) {
	var rows []struct {
		Op, Refused string
		Edges       float64
		Machines    float64
		Wall        float64 `json:"wall_s"`
		CPU         float64 `json:"cpu_s"`
		Peak        float64 `json:"peak_bytes"`
		Written     float64 `json:"written_bytes"`
		Memory      float64 `json:"memory_bytes"`
		Reads       float64 `json:"most_reads"`
		Grows       float64
	}
	modelled(t, &rows, "--forecast", "--json")
	most := 0.0
	for _, r := range rows {
		most = max(most, r.Edges)
		if r.Wall < r.CPU/(16*r.Machines) || r.Peak > 1.5*r.Written || r.Peak <= 0 || r.Memory <= 0 || r.Refused == "" && (r.Grows < 1 || r.Reads > 1<<32) {
			t.Errorf("found %+v, expected at least the CPU time over all cores, a peak of what is written, and no limit that is passed without a refusal", r)
		}
	}
	if len(rows) != 20 || most < 1e11 {
		t.Errorf("found %d rows up to %.0g edges, expected 20 up to 10^11", len(rows), most)
	}
}
