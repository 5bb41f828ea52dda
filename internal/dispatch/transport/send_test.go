package transport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pkg/sftp"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "127.0.0.1"

var here = []Machine{{Host: host}}

// parts writes a partitioned folder of n parts with random files.
func parts(t *testing.T, n int, seed uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "parts")
	w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	config := dgl.Config{GraphName: "g", Method: "metis", HaloHops: 1,
		Nodes: []dgl.TypeRanges{{Name: "_N"}}, Edges: []dgl.TypeRanges{{Name: "_N:_E:_N"}}}
	draw := mathrand.New(mathrand.NewPCG(seed, 0))
	for p := range n {
		r := [2]int64{int64(p), int64(p) + 1}
		config.Nodes[0].Ranges = append(config.Nodes[0].Ranges, r)
		config.Edges[0].Ranges = append(config.Edges[0].Ranges, r)
		sub := fmt.Sprintf("part%d/", p)
		config.Parts = append(config.Parts, dgl.PartFiles{Graph: sub + "graph.dgl", NodeFeats: sub + "node_feat.dgl", EdgeFeats: sub + "edge_feat.dgl"})
		for i, name := range []string{"graph.dgl", "node_feat.dgl", "edge_feat.dgl", "orig_nids.dgl"} {
			b := make([]byte, []int{50_001, 3 * 4096, 24, 0}[i])
			for i := range b {
				b[i] = byte(draw.Uint32())
			}
			if err := w.WriteFile(sub+name, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = errors.Join(w.WriteFile("g.json", config.JSON()), w.WriteFile("metadata.json", config.JSON()), w.WriteMade(store.Made{Command: "dispatch"}),
		w.Seal(t.Context(), nil, 1), w.Publish())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files reads all files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// holds checks that a machine has the given parts, whole, with a manifest that verifies, and nothing else.
func (s *server) holds(t *testing.T, dir string, parts ...int) {
	t.Helper()
	want := map[string]string{}
	for name, text := range files(t, dir) {
		sub, _, isPart := strings.Cut(name, "/")
		if isPart && slices.ContainsFunc(parts, func(p int) bool { return sub == fmt.Sprintf("part%d", p) }) || name == "g.json" || name == "metadata.json" {
			want[name] = text
		}
	}
	got := files(t, filepath.Join(s.Root, "parts"))
	v, err := store.Verify(t.Context(), vfs.OS, filepath.Join(s.Root, "parts"), 1, nil)
	if err != nil || len(v.Damage) > 0 || len(v.Unknown) > 0 || v.Files != len(want) {
		t.Errorf("verify on the machine: %+v, %v", v, err)
	}
	delete(got, store.ManifestFile)
	delete(got, store.ManifestSumFile)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files on the machine (-want +got):\n%.2000s", d)
	}
}

// notWhole checks that nothing on the machine looks like whole parts.
func (s *server) notWhole(t *testing.T) {
	t.Helper()
	for name := range files(t, s.Root) {
		if strings.HasSuffix(name, ".json") {
			t.Errorf("found %s after a failure", name)
		}
	}
}

func send(t *testing.T, dir string, machines []Machine, o Options) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // against a hang
	defer cancel()
	return load(t, vfs.OS, dir, machines).Send(ctx, o)
}

func load(t *testing.T, fsys vfs.FS, dir string, machines []Machine) *Shipment {
	t.Helper()
	s, err := Load(t.Context(), fsys, dir, machines, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSend(t *testing.T, dir string, machines []Machine, o Options) *Report {
	t.Helper()
	r, err := send(t, dir, machines, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSend(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 2, 1)
	var progress atomic.Int64
	o.Progress = func(n int64) { progress.Add(n) }
	r := mustSend(t, dir, here, o)
	s.holds(t, dir, 0, 1)
	size := load(t, vfs.OS, dir, here).Bytes()
	want := &Report{Machines: []Sent{{Host: host, Parts: []int{0, 1}, Files: 10, Bytes: size, Connections: 1}}}
	if d := cmp.Diff(want, r); d != "" || progress.Load() != size {
		t.Errorf("report (-want +got):\n%s\nprogress %d of %d", d, progress.Load(), size)
	}

	// A second Send writes nothing and reads everything.
	before := s.Written.Load()
	r = mustSend(t, dir, here, o)
	if r.Machines[0].Kept != size || r.Machines[0].Bytes != 0 || s.Written.Load() != before {
		t.Errorf("sent again: %+v", r)
	}
	flipByte(t, filepath.Join(s.Root, "parts/part1/graph.dgl"), 40_000)
	if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "part 1, part1/graph.dgl") {
		t.Errorf("a changed byte there: %v", err)
	}
	o.Force = true
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0, 1)
}

// TestMachinesGetTheirParts checks that part p goes to machine p mod n, and that lines with one address are
// one machine.
func TestMachinesGetTheirParts(t *testing.T) {
	dir := parts(t, 4, 2)
	for _, c := range []struct {
		machines []Machine
		want     map[string][]int
	}{
		{[]Machine{{Host: "a"}, {Host: "b"}}, map[string][]int{"a": {0, 2}, "b": {1, 3}}},
		{[]Machine{{Host: "b"}, {Host: "a"}, {Host: "b", Port: 30051}, {Host: "c"}}, map[string][]int{"a": {1}, "b": {0, 2}, "c": {3}}},
		{[]Machine{{Host: "a"}}, map[string][]int{"a": {0, 1, 2, 3}}},
	} {
		places, _, err := placesOf(t.Context(), vfs.OS, dir, c.machines, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]int{}
		for _, pl := range places {
			got[pl.host] = pl.parts
			if n := len(pl.files); n != 4*len(pl.parts)+2 || pl.files[n-1].part != noPart || pl.files[n-2].part != noPart {
				t.Errorf("%s gets %+v", pl.host, pl.files)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.machines, d)
		}
	}
	_, err := Load(t.Context(), vfs.OS, dir, make([]Machine, 3), 1)
	if err == nil || !strings.Contains(err.Error(), "found 3 machines for 4 parts") {
		t.Errorf("3 machines for 4 parts: %v", err)
	}
}

// TestSeveralMachines has one machine whose key is unknown: the other still gets its parts, and keeps them
// when both keys are known.
func TestSeveralMachines(t *testing.T) {
	a, o := serve(t)
	second := net.JoinHostPort("127.0.0.2", strconv.Itoa(a.Port))
	b := &server{sftptest.ServeAt(t, second)}
	b.User = a.User
	machines := []Machine{{Host: "127.0.0.2"}, {Host: host}}
	dir := parts(t, 4, 20)
	_, err := send(t, dir, machines, o)
	if !errors.Is(err, errHostKey) || !strings.Contains(err.Error(), "machine 127.0.0.2, parts 0, 2:") || strings.Contains(err.Error(), "machine 127.0.0.1") {
		t.Errorf("one is not known: %v", err)
	}
	a.holds(t, dir, 1, 3)
	writeFile(t, o.KnownHosts[0], []byte(a.KnownLine(a.Key.PublicKey())+b.KnownLine(b.Key.PublicKey())))
	r := mustSend(t, dir, machines, o)
	a.holds(t, dir, 1, 3)
	b.holds(t, dir, 0, 2)
	if m := r.Machines; len(m) != 2 || m[0].Host != "127.0.0.2" || m[0].Kept != 0 || m[1].Bytes != 0 {
		t.Errorf("report %+v", m)
	}
}

// TestFolderWithoutManifest sends a folder as DGL writes it.
func TestFolderWithoutManifest(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 3)
	if err := errors.Join(os.Remove(filepath.Join(dir, store.ManifestFile)), os.Remove(filepath.Join(dir, store.ManifestSumFile))); err != nil {
		t.Fatal(err)
	}
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
}

func TestOtherPartsThere(t *testing.T) {
	s, o := serve(t)
	first, second := parts(t, 1, 13), parts(t, 1, 14)
	mustSend(t, first, here, o)
	if _, err := send(t, second, here, o); !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), "`Overwrite`") {
		t.Errorf("got %v", err)
	}
	s.holds(t, first, 0)
	if err := os.Remove(filepath.Join(s.Root, "parts", store.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := send(t, second, here, o); !errors.Is(err, store.ErrExists) {
		t.Errorf("without its manifest: %v", err)
	}
	o.Force = true
	mustSend(t, second, here, o)
	s.holds(t, second, 0)
}

// TestServerWithoutExtensions has a server that can neither replace a file in one step nor tell its free
// space.
func TestServerWithoutExtensions(t *testing.T) {
	if err := sftp.SetSFTPExtensions(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sftp.SetSFTPExtensions("hardlink@openssh.com", "posix-rename@openssh.com", "statvfs@openssh.com"); err != nil {
			t.Fatal(err)
		}
	})
	s, o := serve(t)
	first, second := parts(t, 1, 21), parts(t, 1, 22)
	mustSend(t, first, here, o)
	s.holds(t, first, 0)
	o.Force = true
	mustSend(t, second, here, o)
	s.holds(t, second, 0)
}

// TestSharedFolder sends to the folder itself, as for a list that has the local machine: the folder is not
// changed.
func TestSharedFolder(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 2, 17)
	if err := os.CopyFS(filepath.Join(s.Root, "parts"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, o.Force = range []bool{false, true} {
		r := mustSend(t, dir, here, o)
		if d := cmp.Diff(files(t, dir), files(t, filepath.Join(s.Root, "parts"))); d != "" || r.Machines[0].Bytes > 0 || s.Written.Load() > 0 {
			t.Errorf("%+v; (-want +got):\n%.1000s", r, d)
		}
	}
}
