package collection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// some holds random graphs in every format, and the collection that they become.
type some struct {
	yaml, tu, ogb map[string]string
	want          string
}

func random(t *rapid.T, symmetrise bool) *some {
	var ptr, eptr, ids, src, dst, gsrc, gdst, labels = []int64{0}, []int64{0}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}, []int64{}
	var a, indicator, label, edge, nodes, edges, want strings.Builder
	for g := range rapid.IntRange(1, 6).Draw(t, "graphs") {
		n := rapid.IntRange(0, 4).Draw(t, "nodes")
		first := ptr[g]
		labels = append(labels, rapid.Int64Range(-3, 3).Draw(t, "label"))
		fmt.Fprintf(&label, "%d\n", labels[g])
		fmt.Fprintf(&want, "%d: label=[%d] | _N %d | _E", g, labels[g], n)
		for range n {
			ids = append(ids, int64(g))
			fmt.Fprintf(&indicator, "%d\n", g+1)
		}
		m := 0
		if n > 0 {
			m = rapid.IntRange(0, 5).Draw(t, "edges")
		}
		for range m {
			s, d := rapid.Int64Range(0, int64(n)-1).Draw(t, "src"), rapid.Int64Range(0, int64(n)-1).Draw(t, "dst")
			src, dst, gsrc, gdst = append(src, s), append(dst, d), append(gsrc, first+s), append(gdst, first+d)
			fmt.Fprintf(&a, "%d, %d\n", first+s+1, first+d+1)
			fmt.Fprintf(&edge, "%d,%d\n", s, d)
			fmt.Fprintf(&want, " %d>%d", s, d)
			if symmetrise {
				fmt.Fprintf(&want, " %d>%d", d, s)
			}
		}
		want.WriteByte('\n')
		ptr, eptr = append(ptr, first+int64(n)), append(eptr, eptr[g]+int64(m))
		fmt.Fprintf(&nodes, "%d\n", n)
		fmt.Fprintf(&edges, "%d\n", m)
	}
	node := "graph_ptr: ptr.npy"
	if rapid.Bool().Draw(t, "ids") {
		node = "graph_id: id.npy"
	}
	ends := rapid.SampledFrom([]string{
		"graph_ptr: eptr.npy, src: src.npy, dst: dst.npy, ends: local",
		"graph_ptr: eptr.npy, src: gsrc.npy, dst: gdst.npy, ends: global",
		"src: gsrc.npy, dst: gdst.npy, ends: global",
	}).Draw(t, "ends")
	return &some{
		yaml: map[string]string{
			"graph.yaml": "graphs: {columns: {label: label.npy}}\nnodes: {_N: {" + node + "}}\nedges: {\"_N:_E:_N\": {" + ends + "}}",
			"ptr.npy":    array(ptr...), "eptr.npy": array(eptr...), "id.npy": array(ids...), "label.npy": array(labels...),
			"src.npy": array(src...), "dst.npy": array(dst...), "gsrc.npy": array(gsrc...), "gdst.npy": array(gdst...),
		},
		tu:   map[string]string{"x_A.txt": a.String(), "x_graph_indicator.txt": indicator.String(), "x_graph_labels.txt": label.String()},
		ogb:  map[string]string{"edge.csv.gz": zipped(edge.String()), "num-node-list.csv.gz": zipped(nodes.String()), "num-edge-list.csv.gz": zipped(edges.String()), "graph-label.csv.gz": zipped(label.String())},
		want: want.String(),
	}
}

// Random graphs stay the same in every format.
func TestRandomGraphs(t *testing.T) {
	parent := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		symmetrise := rapid.Bool().Draw(rt, "symmetrise")
		s := random(rt, symmetrise)
		files := rapid.SampledFrom([]map[string]string{s.yaml, s.tu, s.ogb}).Draw(rt, "format")
		run++
		dir := filepath.Join(parent, fmt.Sprint(run))
		write(t, dir, files)
		out := filepath.Join(dir, "out")
		if _, err := importDir(context.Background(), disk, dir, out, ingest.Options{Symmetrise: symmetrise}, collection.Options{Threads: 1 + run%3}); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(s.want, show(t, out)); diff != "" {
			rt.Fatalf("-want +found:\n%s", diff)
		}
	})
}

// FuzzTU: any text gives an error or a valid collection.
func FuzzTU(f *testing.F) {
	f.Add("2, 1\n3, 3\n", "1\n1\n3\n", "7\n8\n9\n", "1,2\n0,1\n,3\n")
	f.Add("1 1\n", "1\n", "nan\n", "1")
	f.Add("# x\n1,1\n", "\n\n1\n", "1\n\n", "\"1\n\"")
	f.Fuzz(func(t *testing.T, edges, indicator, labels, attributes string) {
		fuzzing.Check(t, len(edges)+len(indicator)+len(labels)+len(attributes), func() {
			dir := folder(t, map[string]string{"x_A.txt": edges, "x_graph_indicator.txt": indicator, "x_graph_labels.txt": labels, "x_node_attributes.txt": attributes})
			out := filepath.Join(dir, "out")
			if _, err := importDir(context.Background(), disk, dir, out, ingest.Options{}, collection.Options{}); err == nil {
				check(t, out)
			}
		})
	})
}

// FuzzOGB: any text gives an error or a valid collection.
func FuzzOGB(f *testing.F) {
	f.Add("1,0\n0,0\n", "2\n0\n", "2\n0\n", "1,\n,2\n")
	f.Add("0,0\n", "1\n", "2\n", "a,\"b\n\"\n")
	f.Add("", "4294967296\n", "0\n", "nan\n")
	f.Fuzz(func(t *testing.T, edges, nodes, counts, labels string) {
		fuzzing.Check(t, len(edges)+len(nodes)+len(counts)+len(labels), func() {
			dir := folder(t, map[string]string{"edge.csv.gz": zipped(edges), "num-node-list.csv.gz": zipped(nodes), "num-edge-list.csv.gz": zipped(counts), "graph-label.csv.gz": zipped(labels)})
			out := filepath.Join(dir, "out")
			if _, err := importDir(context.Background(), disk, dir, out, ingest.Options{Symmetrise: true}, collection.Options{}); err == nil {
				check(t, out)
			}
		})
	})
}

func check(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Whichever call to the file system fails, there is an error or a complete output.
func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		step  int64
	}{"yaml": {arrays(allYAML), 1}, "ogb": {ogb(), 5}} {
		t.Run(name, func(t *testing.T) {
			in := folder(t, tc.files)
			parent := t.TempDir()
			count := &vfs.Fault{FS: disk}
			if _, err := importDir(context.Background(), count, in, filepath.Join(parent, "0"), ingest.Options{}, collection.Options{Threads: 2}); err != nil {
				t.Fatal(err)
			}
			broken := errors.New("broken")
			for i := int64(1); i <= count.Calls(); i += tc.step {
				out := filepath.Join(parent, fmt.Sprint(i))
				_, err := importDir(context.Background(), &vfs.Fault{FS: disk, FailAt: i, Err: broken, Short: i%2 == 0}, in, out, ingest.Options{}, collection.Options{Threads: 2})
				if err != nil && !errors.Is(err, broken) {
					t.Fatalf("call %d of %d fails: found %v", i, count.Calls(), err)
				}
				if _, missing := os.Stat(out); missing == nil {
					check(t, out)
				} else if err == nil {
					t.Fatalf("call %d of %d fails: found no error and no output", i, count.Calls())
				}
			}
		})
	}
}

// A budget below the minimum is refused, and the error names the minimum. A cancelled import stops.
func TestBudgetAndCancel(t *testing.T) {
	dir := folder(t, arrays(allYAML))
	_, err := importDir(context.Background(), disk, dir, filepath.Join(dir, "out"), ingest.Options{}, collection.Options{Threads: 2, Memory: 1 << 20})
	if !errors.Is(err, collection.ErrMemory) || !strings.Contains(err.Error(), "expected at least 65 MiB") {
		t.Errorf("found %v", err)
	}
	many := arrays(allYAML)
	many["ptr.npy"] = array(make([]int64, 100_000)...)
	many["label.npy"] = array(make([]int64, 99_999)...)
	dir = folder(t, many)
	_, err = importDir(context.Background(), disk, dir, filepath.Join(dir, "out"), ingest.Options{}, collection.Options{Threads: 2, Memory: 66 << 20})
	if !errors.Is(err, collection.ErrMemory) || !strings.Contains(err.Error(), "ptr.npy: found more than") {
		t.Errorf("found %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := importDir(ctx, disk, dir, filepath.Join(dir, "out"), ingest.Options{}, collection.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}
