package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// array writes an .npy file of integers.
func array(t *testing.T, name string, shape []int, values ...int64) {
	t.Helper()
	b, err := npy.AppendHeader(nil, "i8", shape)
	if err == nil {
		err = os.WriteFile(name, append(b, graph.Bytes(values)...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEndOfEdge names the end of an edge that is wrong, in each form of edges and of links.
func TestEndOfEdge(t *testing.T) {
	endInputs(t)
	array(t, "src.npy", []int{3, 2}, 0, 1, 99, 2, 1, 1)
	array(t, "dst.npy", []int{3, 2}, 0, 1, 2, 99, 1, 0)
	array(t, "src2.npy", []int{2, 3}, 0, 99, 1, 1, 2, 0)
	array(t, "dst2.npy", []int{2, 3}, 0, 2, 1, 1, 99, 0)
	array(t, "neg.npy", []int{3, 2}, 0, 1, 2, -9, 1, 0)
	array(t, "loop.npy", []int{3, 2}, 0, 1, 2, 2, 1, 0)
	array(t, "loop2.npy", []int{2, 3}, 0, 2, 1, 1, 2, 0)
	for name, text := range map[string]string{"src.csv": "src,dst\n0,1\n99,2\n", "dst.csv": "src,dst\n0,1\n2,99\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"import src.npy --num-nodes 9 --out o":                                    "src.npy[1, 0]: found source 99",
		"import dst.npy --num-nodes 9 --out o":                                    "dst.npy[1, 1]: found destination 99",
		"import src2.npy --num-nodes 9 --out o":                                   "src2.npy[0, 1]: found source 99",
		"import dst2.npy --num-nodes 9 --out o":                                   "dst2.npy[1, 1]: found destination 99",
		"import neg.npy --out o":                                                  "neg.npy[1, 1]: found -9",
		"import loop.npy --self-loops error --out o":                              "loop.npy[1]: found an edge from a node to itself",
		"import loop2.npy --self-loops error --out o":                             "loop2.npy[:, 1]: found an edge from a node to itself",
		"import src.csv --num-nodes 9 --out o":                                    "src.csv:3:1: found source 99",
		"import dst.csv --num-nodes 9 --out o":                                    "dst.csv:3:3: found destination 99",
		"sample g.store --fanout 2 --seeds src.npy --seed-type _N:_E:_N --out o":  `src.npy[1, 0]: found id "99"`,
		"sample g.store --fanout 2 --seeds dst.npy --seed-type _N:_E:_N --out o":  `dst.npy[1, 1]: found id "99"`,
		"sample g.store --fanout 2 --seeds dst2.npy --seed-type _N:_E:_N --out o": `dst2.npy[1, 1]: found id "99"`,
	} {
		if status, text := endRun(t.Context(), line); status == exitDone || !strings.Contains(text, want) {
			t.Errorf("%s: found status %d and %s, expected %s", line, status, text, want)
		}
	}
}

// TestVerifyWords says what a path is that verify cannot verify, and what is damaged.
func TestVerifyWords(t *testing.T) {
	endInputs(t)
	run := func(line string) (int, string) {
		t.Helper()
		return endRun(t.Context(), line)
	}
	if status, text := run("verify edges.csv"); status != exitFailed || !strings.Contains(text, "edges.csv: found a file, expected an output folder of graphmill, or the configuration") {
		t.Errorf("status %d: %s", status, text)
	}
	if status, text := run("export g.store --to chunked --chunks 1 --out chunked"); status != exitDone {
		t.Fatal(text)
	}
	if err := os.WriteFile("chunked/metadata.json", []byte(`{"node_type": ["_N`), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := run("verify chunked"); status != exitDamaged {
		t.Errorf("status %d: %s", status, text)
	}
	for _, line := range []string{"partition chunked --parts 2 --out o", "dispatch chunked --parts 2 --out o", "partition-graph chunked --parts 2 --out o"} {
		if status, text := run(line); status != exitFailed || !strings.Contains(text, "chunked/metadata.json") || strings.Contains(text, "not a store") {
			t.Errorf("%s: status %d: %s", line, status, text)
		}
	}
}

// unknown is a file system in which Stat of a name fails, the given number of times after the first ones.
type unknown struct {
	vfs.FS
	name string
	left int
}

func (u *unknown) Stat(name string) (fs.FileInfo, error) {
	if name == u.name {
		if u.left--; u.left < 0 {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: syscall.EIO}
		}
	}
	return u.FS.Stat(name)
}

// TestNameOfInput fails each stat of the source of an import: its name in graph.json is never another one.
func TestNameOfInput(t *testing.T) {
	endInputs(t)
	for left := 0; ; left++ {
		disk := &unknown{FS: vfs.OS, name: "edges.csv", left: left}
		var status int
		var text string
		on(disk, func() { status, text = endRun(t.Context(), "import edges.csv --out out --force") })
		if status != exitDone {
			if !strings.Contains(text, "input/output error") {
				t.Fatalf("stat %d: status %d: %s", left, status, text)
			}
			continue
		}
		b, err := os.ReadFile("out/graph.json")
		if err != nil || !strings.Contains(string(b), `"edges.csv": "xxh3`) {
			t.Errorf("stat %d: found %v and %s", left, err, b)
		}
		if disk.left >= 0 {
			return
		}
	}
}

// TestEmptyFolder writes to an existing empty folder, as TF-GNN's sampler does, and refuses one that cannot be replaced. Seeds
// may be in a Parquet table.
func TestEmptyFolder(t *testing.T) {
	endInputs(t)
	if status, text := endRun(t.Context(), "tfgnn convert uni/schema.pbtxt --to parquet --out par"); status != exitDone {
		t.Fatal(text)
	}
	if err := errors.Join(os.Mkdir("empty", 0o700), os.Mkdir("other", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"sample --graph_schema=uni/schema.pbtxt --sampling_spec=spec.pbtxt --input_seeds=par/nodes-node.parquet --output_samples=empty/x.tfrecord@2",
		"import edges.csv --out other",
	} {
		if status, text := endRun(t.Context(), line); status != exitDone {
			t.Errorf("%s: status %d: %s", line, status, text)
		}
	}
	for _, dir := range []string{"empty", "other"} {
		if status, text := endRun(t.Context(), "verify "+dir); status != exitDone {
			t.Error(text)
		}
		if status, text := endRun(t.Context(), "import edges.csv --out "+dir); status != exitFailed || !strings.Contains(text, "exists; choose another --out") {
			t.Errorf("%s: status %d: %s", dir, status, text)
		}
	}
	if status, text := endRun(t.Context(), "import edges.csv --out ."); status == exitDone {
		t.Errorf("the current folder: %s", text)
	}
	if left := hidden(t); len(left) > 0 {
		t.Errorf("found %v", left)
	}
}
