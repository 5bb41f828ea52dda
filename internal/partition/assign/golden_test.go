package assign_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The assignment that DGL's random_partition.py wrote is read, and written as it was.
func TestGoldenAssignment(t *testing.T) {
	dir := golden.Dir(t, "dgl", "chunked_assign")
	a, err := assign.Read(context.Background(), vfs.OS, dir, []string{"maintainer", "package", "source", "tag"}, []uint64{144, 300, 223, 105})
	if err != nil {
		t.Fatal(err)
	}
	if a.Parts != 3 || a.Method != "random" || a.Trainers != 0 {
		t.Errorf("found %d parts, method %s, %d trainers", a.Parts, a.Method, a.Trainers)
	}
	out := filepath.Join(t.TempDir(), "a")
	write(t, out, a)
	for _, name := range append([]string{assign.MetaFile}, "maintainer.txt", "package.txt", "source.txt", "tag.txt") {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == assign.MetaFile {
			want = append(want, '\n')
		}
		found, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || string(found) != string(want) {
			t.Errorf("%s: found %q, %v, expected %q", name, found, err, want)
		}
	}
}
