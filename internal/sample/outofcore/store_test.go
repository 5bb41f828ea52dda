package outofcore

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.OnDisk()
	proof.FewerChecks(5) // a check opens files and measures the disk
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, dir := range made {
			if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
				panic(err)
			}
		}
		os.Exit(code)
	}))
}

// made is the folders of the stores that tests share, by name.
var made = map[string]string{}

// sharedStore is a store that all tests read, written by the first test that asks for it.
func sharedStore(t testing.TB, name string, nodes map[string]int, edges []sampletest.Edges, opt assemble.Options) *store.Store {
	t.Helper()
	if made[name] == "" {
		dir, err := os.MkdirTemp("", "outofcore")
		if err != nil {
			t.Fatal(err)
		}
		made[name] = filepath.Join(dir, "g.store")
		sampletest.Write(t, made[name], nodes, edges, opt)
	}
	return openStore(t, made[name])
}

// makeStore is a store of the test alone; nodes are the node types and their counts.
func makeStore(t testing.TB, nodes map[string]int, edges []sampletest.Edges, opt assemble.Options) *store.Store {
	t.Helper()
	out := filepath.Join(t.TempDir(), "g.store")
	sampletest.Write(t, out, nodes, edges, opt)
	return openStore(t, out)
}

func openStore(t testing.TB, out string) *store.Store {
	t.Helper()
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// typedStore has two node types, four edge types of 1 to 3 blocks, both directions.
func typedStore(t testing.TB) *store.Store {
	return sharedStore(t, "typed", sampletest.TypedNodes, sampletest.TypedEdges, assemble.Options{Both: true})
}

// plainStore has one edge type of six blocks, in-edges alone.
func plainStore(t testing.TB) *store.Store {
	return sharedStore(t, "plain", sampletest.PlainNodes, sampletest.PlainEdges, assemble.Options{})
}
