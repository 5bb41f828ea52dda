package parts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

const tiny = "../../../format/dgl/testdata/tiny"

// copied is a copy of the small partitioned graph.
func copied(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "parts")
	if err := os.CopyFS(dir, os.DirFS(tiny)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := copied(t)
	config := filepath.Join(dir, "tiny.json")
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	find := func(path, want string) {
		t.Helper()
		if got, err := Find(vfs.OS, path); err != nil || got != want {
			t.Errorf("found %q, %v, expected %q", got, err, want)
		}
	}
	find(dir, config)
	write("report.json", []byte(`{"num_parts": 2}`))
	write("broken.json", []byte(`{"num_parts": 2, "node_map": {`))
	find(dir, config)
	write("metadata.json", b)
	find(dir, config)
	find(filepath.Join(dir, "metadata.json"), filepath.Join(dir, "metadata.json"))
	find(filepath.Join(dir, "report.json"), "")
	find(filepath.Join(dir, "graph.bin"), "")
	find(filepath.Join(dir, "part0"), "")
	write("other.json", b)
	if _, err := Find(vfs.OS, dir); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "found the configurations other.json, tiny.json") {
		t.Errorf("found %v", err)
	}
}

// Symbolic links can point anywhere: they are followed only if that is allowed.
func TestLinks(t *testing.T) {
	for _, name := range []string{"part1", "part1/graph.dgl", "orig_nids.dgl"} {
		dir := copied(t)
		away := filepath.Join(t.TempDir(), "away")
		if err := errors.Join(os.Rename(filepath.Join(dir, name), away), os.Symlink(away, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(vfs.OS, filepath.Join(dir, "tiny.json"), false); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "found a symbolic link") {
			t.Errorf("%s: found %v", name, err)
		}
		f, err := Open(vfs.OS, filepath.Join(dir, "tiny.json"), true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// files counts the open files.
type files struct {
	vfs.FS
	open int
}

type file struct {
	vfs.File
	of *files
}

func (f *files) Open(name string) (vfs.File, error) {
	x, err := f.FS.Open(name)
	if err == nil {
		f.open++
	}
	return file{x, f}, err
}

func (f file) Close() error {
	f.of.open--
	return f.File.Close()
}

// Open reads the description of a folder. Its files are mapped and not kept open, because there can be many.
func TestOpen(t *testing.T) {
	count := &files{FS: vfs.OS}
	f, err := Open(count, filepath.Join(tiny, "tiny.json"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if count.open != 0 {
		t.Errorf("found %d open files, expected none", count.open)
	}
	if len(f.Files) != 9 || f.Nodes.Len() != 40 || f.Edges.Len() != 83 || f.NodeIDs[0].Len() != 40 || f.EdgeIDs[0].Len() != 83 {
		t.Errorf("found files %v, %d nodes, %d edges", f.Files, f.Nodes.Len(), f.Edges.Len())
	}
	p := f.Parts[1]
	if p.Nodes != 33 || p.Edges != 51 || p.FirstNode != 20 || p.OwnedNodes != 20 || p.FirstEdge != 41 || p.OwnedEdges != 42 || p.NodeType.Len() != 0 || p.Owner.Len() != 33 {
		t.Errorf("found %+v", p)
	}
	if r := f.Nodes.Find(25); r.Part != 1 || r.Wise != 20 || r.First != 20 {
		t.Errorf("found %+v", r)
	}
}
