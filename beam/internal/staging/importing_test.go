package staging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/beam/internal/staging"
	room "github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
)

func TestMain(m *testing.M) {
	engine.Init()
	os.Exit(m.Run())
}

// source writes a unigraph of packages and maintainers, with edges that name other packages.
func source(t *testing.T, edges int) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]*bytes.Buffer{}
	for _, name := range []string{"schema.pbtxt", "package.csv", "depends.csv", "by.csv"} {
		files[name] = &bytes.Buffer{}
	}
	files["schema.pbtxt"].WriteString(`node_sets { key: "package" value { features { key: "size" value { dtype: DT_INT64 } } features { key: "about" value { dtype: DT_STRING } } metadata { filename: "package.csv" } } }
node_sets { key: "person" value { } }
edge_sets { key: "depends" value { source: "package" target: "package" features { key: "w" value { dtype: DT_FLOAT } } metadata { filename: "depends.csv" } } }
edge_sets { key: "by" value { source: "package" target: "person" metadata { filename: "by.csv" } } }
`)
	files["package.csv"].WriteString("#id,size,about\n")
	files["depends.csv"].WriteString("#source,#target,w\n")
	files["by.csv"].WriteString("#source,#target\n")
	const packages = 500
	for i := range packages {
		fmt.Fprintf(files["package.csv"], "lib%d,%d,\"about\n%d\"\n", i, i*i, i)
		fmt.Fprintf(files["by.csv"], "lib%d,\"person, %d\"\n", i, r.IntN(60))
	}
	for range edges {
		fmt.Fprintf(files["depends.csv"], "lib%d,lib%d,%g\n", r.IntN(packages), r.IntN(packages+r.IntN(20)), r.Float32())
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func on(t *testing.T) *room.Cluster {
	t.Helper()
	build, err := engine.Build()
	if err != nil {
		t.Fatal(err)
	}
	return &room.Cluster{Engine: &staging.Engine{Operation: staging.Import, Options: engine.Options{Runner: engine.Prism, Parallelism: 2, Build: build}}}
}

// manifest imports a source and returns the checksums of the store.
func manifest(t *testing.T, source string, o option.Import, c *room.Cluster) ([]byte, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "store")
	st, _, err := room.Import(context.Background(), source, out, o, c)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	return b, nil
}

func TestSameBytes(t *testing.T) {
	dir := source(t, 20_000)
	for _, policy := range []option.Policy{option.PolicyDrop, option.PolicyZeros} {
		o := option.Import{DanglingEdges: policy}
		o.Both = true
		want, err := manifest(t, dir, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := manifest(t, dir, o, on(t))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s: found another manifest than without a cluster:\n%s\n%s", policy, got, want)
		}
	}
}

// TestError says that the error of a worker reaches the user, and that nothing is left.
func TestError(t *testing.T) {
	out := filepath.Join(t.TempDir(), "store")
	_, _, err := room.Import(context.Background(), source(t, 5_000), out, option.Import{}, on(t))
	if err == nil || !strings.Contains(err.Error(), "expected an id of node type package; add the node, or give `DanglingEdges` drop or zeros") {
		t.Errorf("found %v, expected the error of a worker", err)
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
		t.Errorf("found %v %v, expected nothing", entries, err)
	}
}
