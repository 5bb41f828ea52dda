package graphmill_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
)

// TestMissing gives each operation, for each path that it reads, one that is not there: the error is fs.ErrNotExist and names the path.
func TestMissing(t *testing.T) {
	dir := inputs(t)
	st, err := graphmill.Open(dir + "/g.store")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ctx := t.Context()
	store, coll, plan, parts := dir+"/g.store", dir+"/g.coll", dir+"/plan", dir+"/g.parts"
	sample := func(o graphmill.SampleOptions) func(no, out string) error {
		return func(no, out string) error {
			o := o
			for _, field := range []*string{&o.Seeds, &o.Plan, &o.SamplingSpec, &o.GraphSchema, &o.Assignment, &o.SeedTime} {
				*field = strings.Replace(*field, "NO", no, 1)
			}
			_, err := graphmill.Sample(ctx, st, out, o)
			return err
		}
	}
	schema, machines := dir+"/schema.pbtxt", dir+"/ip_config.txt"
	if err := os.WriteFile(machines, []byte("127.0.0.1 1\n127.0.0.1 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, operation := range map[string]func(no, out string) error{
		"open":          func(no, _ string) error { _, err := graphmill.Open(no); return err },
		"open streamed": func(no, _ string) error { _, err := graphmill.OpenStreamed(no); return err },
		"layout":        func(no, _ string) error { _, err := graphmill.DescribeLayout(no); return err },
		"report":        func(no, _ string) error { _, err := graphmill.RenderReport(no); return err },
		"verify":        func(no, _ string) error { _, err := graphmill.Verify(ctx, no, graphmill.VerifyOptions{}); return err },
		"verify against": func(no, _ string) error {
			_, err := graphmill.Verify(ctx, coll, graphmill.VerifyOptions{Against: no})
			return err
		},
		"lineage": func(no, _ string) error {
			_, err := graphmill.TraceLineage(ctx, no, graphmill.LineageOptions{})
			return err
		},
		"import": func(no, out string) error {
			_, err := graphmill.Import(ctx, no, out, graphmill.ImportOptions{})
			return err
		},
		"import csv": func(no, out string) error {
			_, err := graphmill.Import(ctx, no+".csv", out, graphmill.ImportOptions{})
			return err
		},
		"import sqlite": func(no, out string) error {
			_, err := graphmill.Import(ctx, "sqlite:"+no, out, graphmill.ImportOptions{})
			return err
		},
		"plan":      sample(graphmill.SampleOptions{Plan: "NO"}),
		"spec":      sample(graphmill.SampleOptions{SamplingSpec: "NO"}),
		"seeds.csv": sample(graphmill.SampleOptions{Fanout: []int{2}, Seeds: "NO.csv"}),
		"seeds.npy": sample(graphmill.SampleOptions{Fanout: []int{2}, Seeds: "NO.npy"}),
		"schema":    sample(graphmill.SampleOptions{Fanout: []int{2}, GraphSchema: "NO", Format: graphmill.FormatTFRecord}),
		"assignment of batches": func(no, _ string) error {
			_, err := graphmill.NewLoader(ctx, st, graphmill.SampleOptions{Sampler: graphmill.SamplerCluster, Assignment: no})
			return err
		},
		"walk": func(no, out string) error {
			_, err := graphmill.Walk(ctx, no, out, graphmill.WalkOptions{Length: 4})
			return err
		},
		"starts of walks": func(no, out string) error {
			_, err := graphmill.Walk(ctx, store, out, graphmill.WalkOptions{Length: 4, Seeds: no + ".npy"})
			return err
		},
		"partition": func(no, out string) error {
			_, err := graphmill.Partition(ctx, no, out, graphmill.PartitionOptions{Parts: 3})
			return err
		},
		"dispatch": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, no, parts, out, graphmill.DispatchOptions{})
			return err
		},
		"assignment": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, store, no, out, graphmill.DispatchOptions{})
			return err
		},
		"forecast of dispatch": func(no, out string) error {
			_, err := graphmill.ForecastDispatch(ctx, no, parts, out, graphmill.DispatchOptions{})
			return err
		},
		"partition-graph": func(no, out string) error {
			_, err := graphmill.PartitionGraph(ctx, no, out, graphmill.PartitionGraphOptions{PartitionOptions: graphmill.PartitionOptions{Parts: 2}})
			return err
		},
		"send": func(no, _ string) error {
			_, err := graphmill.Send(ctx, no, graphmill.DispatchOptions{PartsOptions: graphmill.PartsOptions{Send: graphmill.SendOptions{IPConfig: machines}}})
			return err
		},
		"machines": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, store, parts, out, graphmill.DispatchOptions{PartsOptions: graphmill.PartsOptions{Send: graphmill.SendOptions{IPConfig: no}}})
			return err
		},
		"pack": func(no, out string) error {
			_, err := graphmill.Pack(ctx, no, out, graphmill.PackOptions{Limits: limits})
			return err
		},
		"pack csv": func(no, out string) error {
			_, err := graphmill.Pack(ctx, no+".csv", out, graphmill.PackOptions{Limits: limits})
			return err
		},
		"pack stream": func(no, out string) error {
			_, err := graphmill.PackStream(ctx, no, out, graphmill.PackStreamOptions{PackOptions: graphmill.PackOptions{Limits: limits}})
			return err
		},
		"histogram": func(no, _ string) error { return graphmill.PackHistogram(no, io.Discard, graphmill.HistogramOptions{}) },
		"compare": func(no, _ string) error {
			_, err := graphmill.ComparePacks(ctx, []string{no}, graphmill.TablesOptions{Components: []string{"num_nodes"}})
			return err
		},
		"tune": func(no, out string) error {
			_, err := graphmill.TunePacks(ctx, no, out, graphmill.TuneOptions{Components: []string{"num_nodes"}, Target: 90})
			return err
		},
		"layout of fill": func(no, out string) error {
			_, err := graphmill.Fill(ctx, no, coll, out, graphmill.FillOptions{Epochs: 1})
			return err
		},
		"graphs of fill": func(no, out string) error {
			_, err := graphmill.Fill(ctx, plan, no, out, graphmill.FillOptions{Epochs: 1})
			return err
		},
		"layout of materialise": func(no, out string) error {
			_, err := graphmill.Materialise(ctx, no, coll, out, graphmill.MaterialiseOptions{})
			return err
		},
		"graphs of materialise": func(no, out string) error {
			_, err := graphmill.Materialise(ctx, plan, no, out, graphmill.MaterialiseOptions{})
			return err
		},
		"export": func(no, out string) error {
			_, err := graphmill.Export(ctx, no, out, graphmill.ExportOptions{To: graphmill.FormatTFRecord})
			return err
		},
		"chunk": func(no, out string) error {
			_, err := graphmill.Chunk(ctx, no, out, graphmill.ChunkOptions{})
			return err
		},
		"unigraph": func(no, out string) error {
			_, err := graphmill.StoreToUnigraph(ctx, no, out, graphmill.UnigraphTables{})
			return err
		},
		"convert": func(no, out string) error {
			_, err := graphmill.ConvertUnigraph(ctx, no, out, graphmill.UnigraphTables{})
			return err
		},
		"sample unigraph": func(no, out string) error {
			_, err := graphmill.SampleUnigraph(ctx, no, out, graphmill.UnigraphOptions{SampleOptions: graphmill.SampleOptions{Fanout: []int{2}}})
			return err
		},
		"random records": func(no, out string) error {
			_, err := graphmill.RandomRecords(ctx, no, out, graphmill.RandomOptions{Count: 1})
			return err
		},
		"statistics": func(no, out string) error {
			_, _, err := graphmill.Statistics(ctx, schema, []string{no}, out, graphmill.StatisticsOptions{})
			return err
		},
		"schema of statistics": func(no, out string) error {
			_, _, err := graphmill.Statistics(ctx, no, []string{coll}, out, graphmill.StatisticsOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for _, no := range []string{filepath.Join(folder, "nothing-there"), filepath.Join(folder, "no", "folder")} {
				err := operation(no, folder+"/out")
				if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), no) {
					t.Errorf("found error %v, expected one that is fs.ErrNotExist and names %s", err, no)
				}
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("found %v, %v, expected an empty folder", left, err)
			}
		})
	}
}

// TestPackUsage checks that wrong options of packs are ErrUsage, and what is wrong in the data is not.
func TestPackUsage(t *testing.T) {
	dir := inputs(t)
	one := func(component string, n int) []graphmill.PackLimit {
		return []graphmill.PackLimit{{Component: component, Max: n}}
	}
	for _, test := range []struct {
		name  string
		o     graphmill.PackOptions
		usage bool
		want  string
	}{
		{"no limits", graphmill.PackOptions{}, true, "found no `Limits`"},
		{"no such component", graphmill.PackOptions{Limits: one("num_atoms", 40)}, true, "found component \"num_atoms\""},
		{"negative", graphmill.PackOptions{Limits: one("num_nodes", -1)}, true, "found `Limits` num_nodes=-1"},
		{"twice", graphmill.PackOptions{Limits: append(one("num_nodes", 40), one("num_nodes", 50)...)}, true, "found `Limits` of num_nodes twice"},
		{"method", graphmill.PackOptions{Limits: limits, Method: "best"}, true, "found `Method` \"best\""},
		{"heuristic", graphmill.PackOptions{Limits: limits, Heuristic: "best"}, true, "found `Heuristic` \"best\""},
		{"weights", graphmill.PackOptions{Limits: limits, Heuristic: "weighted:1"}, true, "found `Heuristic` \"weighted:1\""},
		{"a weight", graphmill.PackOptions{Limits: limits, Heuristic: "weighted:1,x"}, true, "found `Heuristic` \"weighted:1,x\""},
		{"too small", graphmill.PackOptions{Limits: one("num_nodes", 1)}, false, "larger than a pack"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir() + "/out"
			_, err := graphmill.Pack(t.Context(), dir+"/g.coll", out, test.o)
			if err == nil || errors.Is(err, graphmill.ErrUsage) != test.usage || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Pack: found error %v, usage %v; expected %q, usage %v", err, errors.Is(err, graphmill.ErrUsage), test.want, test.usage)
			}
			if test.o.Method != "" || test.o.Heuristic != "" {
				return
			}
			_, err = graphmill.PackStream(t.Context(), dir+"/g.coll", out, graphmill.PackStreamOptions{PackOptions: test.o})
			if err == nil || errors.Is(err, graphmill.ErrUsage) != test.usage || !strings.Contains(err.Error(), test.want) && test.usage {
				t.Errorf("PackStream: found error %v, usage %v; expected %q, usage %v", err, errors.Is(err, graphmill.ErrUsage), test.want, test.usage)
			}
		})
	}
}
