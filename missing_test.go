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
	"github.com/graphmill/graphmill/option"
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
	sample := func(o option.Sample) func(no, out string) error {
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
		"verify":        func(no, _ string) error { _, err := graphmill.Verify(ctx, no, option.Verify{}); return err },
		"verify against": func(no, _ string) error {
			_, err := graphmill.Verify(ctx, coll, option.Verify{Against: no})
			return err
		},
		"lineage": func(no, _ string) error {
			_, err := graphmill.TraceLineage(ctx, no, option.Lineage{})
			return err
		},
		"import": func(no, out string) error {
			_, err := graphmill.Import(ctx, no, out, option.Import{})
			return err
		},
		"import csv": func(no, out string) error {
			_, err := graphmill.Import(ctx, no+".csv", out, option.Import{})
			return err
		},
		"import sqlite": func(no, out string) error {
			_, err := graphmill.Import(ctx, "sqlite:"+no, out, option.Import{})
			return err
		},
		"plan":      sample(option.Sample{Draw: option.Draw{Plan: "NO"}}),
		"spec":      sample(option.Sample{Draw: option.Draw{SamplingSpec: "NO"}}),
		"seeds.csv": sample(option.Sample{Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{Seeds: "NO.csv"}}),
		"seeds.npy": sample(option.Sample{Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{Seeds: "NO.npy"}}),
		"schema":    sample(option.Sample{Format: option.FormatTFRecord, Draw: option.Draw{Fanout: []int{2}}, Records: option.Records{GraphSchema: "NO"}}),
		"assignment of batches": func(no, _ string) error {
			_, err := graphmill.NewLoader(ctx, st, option.Batches{Draw: option.Draw{Sampler: option.SamplerCluster, Assignment: no}})
			return err
		},
		"walk": func(no, out string) error {
			_, err := graphmill.Walk(ctx, no, out, option.Walk{Length: 4})
			return err
		},
		"starts of walks": func(no, out string) error {
			_, err := graphmill.Walk(ctx, store, out, option.Walk{Length: 4, Seeds: no + ".npy"})
			return err
		},
		"partition": func(no, out string) error {
			_, err := graphmill.Partition(ctx, no, out, option.Partition{Parts: 3})
			return err
		},
		"dispatch": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, no, parts, out, option.Dispatch{})
			return err
		},
		"assignment": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, store, no, out, option.Dispatch{})
			return err
		},
		"forecast of dispatch": func(no, out string) error {
			_, err := graphmill.ForecastDispatch(ctx, no, parts, out, option.Dispatch{})
			return err
		},
		"partition-graph": func(no, out string) error {
			_, err := graphmill.PartitionGraph(ctx, no, out, option.PartitionGraph{Partition: option.Partition{Parts: 2}})
			return err
		},
		"send": func(no, _ string) error {
			_, err := graphmill.Send(ctx, no, option.Dispatch{DGLParts: option.DGLParts{Send: option.Send{IPConfig: machines}}})
			return err
		},
		"machines": func(no, out string) error {
			_, err := graphmill.Dispatch(ctx, store, parts, out, option.Dispatch{DGLParts: option.DGLParts{Send: option.Send{IPConfig: no}}})
			return err
		},
		"pack": func(no, out string) error {
			_, err := graphmill.Pack(ctx, no, out, option.Pack{Limits: limits})
			return err
		},
		"pack csv": func(no, out string) error {
			_, err := graphmill.Pack(ctx, no+".csv", out, option.Pack{Limits: limits})
			return err
		},
		"pack stream": func(no, out string) error {
			_, err := graphmill.PackStream(ctx, no, out, option.PackStream{Pack: option.Pack{Limits: limits}})
			return err
		},
		"histogram": func(no, _ string) error { return graphmill.PackHistogram(no, io.Discard, option.PackHistogram{}) },
		"compare": func(no, _ string) error {
			_, err := graphmill.ComparePacks(ctx, []string{no}, option.ComparePacks{Components: []string{"num_nodes"}})
			return err
		},
		"tune": func(no, out string) error {
			_, err := graphmill.TunePacks(ctx, no, out, option.TunePacks{Components: []string{"num_nodes"}, Target: 90})
			return err
		},
		"layout of fill": func(no, out string) error {
			_, err := graphmill.Fill(ctx, no, coll, out, option.Fill{Epochs: 1})
			return err
		},
		"graphs of fill": func(no, out string) error {
			_, err := graphmill.Fill(ctx, plan, no, out, option.Fill{Epochs: 1})
			return err
		},
		"layout of materialise": func(no, out string) error {
			_, err := graphmill.Materialise(ctx, no, coll, out, option.Materialise{})
			return err
		},
		"graphs of materialise": func(no, out string) error {
			_, err := graphmill.Materialise(ctx, plan, no, out, option.Materialise{})
			return err
		},
		"export": func(no, out string) error {
			_, err := graphmill.Export(ctx, no, out, option.Export{To: option.FormatTFRecord})
			return err
		},
		"chunk": func(no, out string) error {
			_, err := graphmill.Chunk(ctx, no, out, option.Chunk{})
			return err
		},
		"unigraph": func(no, out string) error {
			_, err := graphmill.StoreToUnigraph(ctx, no, out, option.UnigraphTables{})
			return err
		},
		"convert": func(no, out string) error {
			_, err := graphmill.ConvertUnigraph(ctx, no, out, option.UnigraphTables{})
			return err
		},
		"sample unigraph": func(no, out string) error {
			_, err := graphmill.SampleUnigraph(ctx, no, out, option.Unigraph{Sample: option.Sample{Draw: option.Draw{Fanout: []int{2}}}})
			return err
		},
		"random records": func(no, out string) error {
			_, err := graphmill.RandomRecords(ctx, no, out, option.RandomRecords{Count: 1})
			return err
		},
		"statistics": func(no, out string) error {
			_, _, err := graphmill.Statistics(ctx, schema, []string{no}, out, option.Statistics{})
			return err
		},
		"schema of statistics": func(no, out string) error {
			_, _, err := graphmill.Statistics(ctx, no, []string{coll}, out, option.Statistics{})
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
	one := func(component string, n int) []option.PackLimit {
		return []option.PackLimit{{Component: component, Max: n}}
	}
	for _, test := range []struct {
		name  string
		o     option.Pack
		usage bool
		want  string
	}{
		{"no limits", option.Pack{}, true, "found no `Limits`"},
		{"no such component", option.Pack{Limits: one("num_atoms", 40)}, true, "found component \"num_atoms\""},
		{"negative", option.Pack{Limits: one("num_nodes", -1)}, true, "found `Limits` num_nodes=-1"},
		{"twice", option.Pack{Limits: append(one("num_nodes", 40), one("num_nodes", 50)...)}, true, "found `Limits` of num_nodes twice"},
		{"method", option.Pack{Limits: limits, Method: "best"}, true, "found `Method` \"best\""},
		{"heuristic", option.Pack{Limits: limits, Heuristic: "best"}, true, "found `Heuristic` \"best\""},
		{"weights", option.Pack{Limits: limits, Heuristic: "weighted:1"}, true, "found `Heuristic` \"weighted:1\""},
		{"a weight", option.Pack{Limits: limits, Heuristic: "weighted:1,x"}, true, "found `Heuristic` \"weighted:1,x\""},
		{"too small", option.Pack{Limits: one("num_nodes", 1)}, false, "larger than a pack"},
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
			_, err = graphmill.PackStream(t.Context(), dir+"/g.coll", out, option.PackStream{Pack: test.o})
			if err == nil || errors.Is(err, graphmill.ErrUsage) != test.usage || !strings.Contains(err.Error(), test.want) && test.usage {
				t.Errorf("PackStream: found error %v, usage %v; expected %q, usage %v", err, errors.Is(err, graphmill.ErrUsage), test.want, test.usage)
			}
		})
	}
}
