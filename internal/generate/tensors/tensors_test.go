package tensors

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func schema(t *testing.T) *tfgnnpb.GraphSchema {
	t.Helper()
	s, err := tfgnn.ParseSchema("s", []byte(`node_sets { key: "n" value { features { key: "f" value { dtype: DT_HALF shape { dim { size: -1 } } } } } }
		edge_sets { key: "e" value { source: "n" target: "n" } } info { root_set: "n" }`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write makes a complete output folder.
func write(ctx context.Context, fsys vfs.FS, out string, o Options) (r *Result, err error) {
	w, err := store.Create(fsys, out, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	if r, err = Write(ctx, w, o); err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, nil, 1); err != nil {
		return nil, err
	}
	return r, w.Publish()
}

// The records are read by their schema, and do not depend on the number of threads. A larger count begins with the
// same GraphTensors.
func TestWrite(t *testing.T) {
	s := schema(t)
	var first [][]byte
	for _, c := range []struct {
		threads, shards int
		count           uint64
		gzip            bool
	}{{1, 3, 700, false}, {4, 3, 700, true}, {2, 1, 5, false}, {2, 2, 0, true}} {
		out := filepath.Join(t.TempDir(), "out")
		r, err := write(context.Background(), vfs.OS, out, Options{Schema: s, Seed: 7, Count: c.count, Shards: c.shards, Gzip: c.gzip, Threads: c.threads})
		if err != nil {
			t.Fatal(err)
		}
		kept, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, out)
		if err != nil || !proto.Equal(kept, s) {
			t.Fatalf("the schema is not kept: %v", err)
		}
		codec, err := example.NewCodec(kept)
		if err != nil {
			t.Fatal(err)
		}
		names, err := tfgnnfiles.Tables(vfs.OS, out, "random.tfrecord*", false)
		if err != nil || len(names) != c.shards {
			t.Fatal(names, err)
		}
		f, g := recordfiles.New(vfs.OS, names, nil), codec.New()
		defer f.Close()
		edges := uint64(0)
		for i := range c.count {
			record, at, err := f.Next()
			if err != nil {
				t.Fatal(err)
			}
			if err := codec.Decode(record, g, false); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			edges += uint64(g.EdgeSets["e"].Sizes[0])
			if uint64(len(first)) <= i {
				first = append(first, append([]byte(nil), record...))
			} else if string(first[i]) != string(record) {
				t.Fatalf("%+v: GraphTensor %d is another one", c, i)
			}
		}
		if r.Nodes.Count() != c.count || r.Edges.Sum() != edges {
			t.Errorf("found %d GraphTensors of %d edges, expected %d of %d", r.Nodes.Count(), r.Edges.Sum(), c.count, edges)
		}
	}
}

// Any call to the file system may fail, and the work may be stopped. No incomplete output looks complete.
func TestFaults(t *testing.T) {
	s := schema(t)
	o := Options{Schema: s, Count: 3, Shards: 2, Threads: 2}
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := write(context.Background(), count, filepath.Join(t.TempDir(), "out"), o); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		out, broken := filepath.Join(t.TempDir(), "out"), errors.New("broken")
		_, err := write(context.Background(), &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, out, o)
		if !errors.Is(err, broken) {
			if _, there := os.Stat(filepath.Join(out, store.ManifestFile)); there != nil || err != nil {
				t.Errorf("call %d fails: found %v", i, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := write(ctx, vfs.OS, out, o); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("found an output of work that was stopped")
	}
}
