package transport

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
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
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "127.0.0.1"

var here = []Machine{{Host: host}}

// parts writes a partitioned folder of n parts whose files have any bytes.
func parts(t *testing.T, n int, seed uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "parts")
	w, err := store.Create(fsx.Unsynced{FS: fsx.OS}, dir, false)
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

// holds checks that a machine has the parts given, whole, with a manifest that
// verifies, and nothing else.
func (s *server) holds(t *testing.T, dir string, parts ...int) {
	t.Helper()
	want := map[string]string{}
	for name, text := range files(t, dir) {
		sub, _, isPart := strings.Cut(name, "/")
		if isPart && slices.ContainsFunc(parts, func(p int) bool { return sub == fmt.Sprintf("part%d", p) }) || name == "g.json" || name == "metadata.json" {
			want[name] = text
		}
	}
	got := files(t, filepath.Join(s.root, "parts"))
	v, err := store.Verify(t.Context(), fsx.OS, filepath.Join(s.root, "parts"), 1, nil)
	if err != nil || len(v.Damage) > 0 || len(v.Unknown) > 0 || v.Files != len(want) {
		t.Errorf("verify on the machine: %+v, %v", v, err)
	}
	delete(got, store.ManifestFile)
	delete(got, store.ManifestSumFile)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files on the machine (-want +got):\n%.2000s", d)
	}
}

// notWhole checks that nothing on the machine can be taken for whole parts.
func (s *server) notWhole(t *testing.T) {
	t.Helper()
	for name := range files(t, s.root) {
		if strings.HasSuffix(name, ".json") {
			t.Errorf("found %s after a failure", name)
		}
	}
}

func send(t *testing.T, dir string, machines []Machine, o Options) (*Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return load(t, fsx.OS, dir, machines).Send(ctx, o)
}

func load(t *testing.T, fsys fsx.FS, dir string, machines []Machine) *Shipment {
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
	size := load(t, fsx.OS, dir, here).Bytes()
	want := &Report{Machines: []Sent{{Host: host, Parts: []int{0, 1}, Files: 10, Bytes: size, Connections: 1}}}
	if d := cmp.Diff(want, r); d != "" || progress.Load() != size {
		t.Errorf("report (-want +got):\n%s\nprogress %d of %d", d, progress.Load(), size)
	}

	// Once more writes nothing, and reads all.
	before := s.written.Load()
	r = mustSend(t, dir, here, o)
	if r.Machines[0].Kept != size || r.Machines[0].Bytes != 0 || s.written.Load() != before {
		t.Errorf("sent again: %+v", r)
	}
	flipByte(t, filepath.Join(s.root, "parts/part1/graph.dgl"), 40_000)
	if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "part 1, part1/graph.dgl") {
		t.Errorf("a changed byte there: %v", err)
	}
	o.Force = true
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0, 1)
}

// TestMachinesGetTheirParts holds Load to p mod n, and lines of one address to be one
// machine.
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
		places, _, err := placesOf(t.Context(), fsx.OS, dir, c.machines, 1)
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
	_, err := Load(t.Context(), fsx.OS, dir, make([]Machine, 3), 1)
	if err == nil || !strings.Contains(err.Error(), "found 3 machines for 4 parts") {
		t.Errorf("3 machines for 4 parts: %v", err)
	}
}

// TestSeveralMachines has one that is not known: the other gets its parts all the
// same, and keeps them when both are known.
func TestSeveralMachines(t *testing.T) {
	a, o := serve(t)
	second := net.JoinHostPort("127.0.0.2", strconv.Itoa(a.port))
	b, _ := serveAt(t, second)
	b.user = a.user
	machines := []Machine{{Host: "127.0.0.2"}, {Host: host}}
	dir := parts(t, 4, 20)
	_, err := send(t, dir, machines, o)
	if !errors.Is(err, ErrHostKey) || !strings.Contains(err.Error(), "machine 127.0.0.2, parts 0, 2:") || strings.Contains(err.Error(), "machine 127.0.0.1") {
		t.Errorf("one is not known: %v", err)
	}
	a.holds(t, dir, 1, 3)
	writeFile(t, o.KnownHosts[0], []byte(a.knownLine(a.key.PublicKey())+b.knownLine(b.key.PublicKey())))
	r := mustSend(t, dir, machines, o)
	a.holds(t, dir, 1, 3)
	b.holds(t, dir, 0, 2)
	if m := r.Machines; len(m) != 2 || m[0].Host != "127.0.0.2" || m[0].Kept != 0 || m[1].Bytes != 0 {
		t.Errorf("report %+v", m)
	}
}

// TestFolderWithoutManifest is a folder that DGL wrote.
func TestFolderWithoutManifest(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 3)
	if err := errors.Join(os.Remove(filepath.Join(dir, store.ManifestFile)), os.Remove(filepath.Join(dir, store.ManifestSumFile))); err != nil {
		t.Fatal(err)
	}
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
}

// TestCut cuts connections at many places: the parts arrive all the same, and what
// was verified is not written again.
func TestCut(t *testing.T) {
	dir := parts(t, 2, 4)
	for _, after := range []int64{1, 2000, 4000, 20_000, 60_000, 100_000} {
		s, o := serve(t)
		s.cut(func(n int64) int64 {
			if n > 3 {
				return 0
			}
			return after
		})
		var progress atomic.Int64
		o.Progress = func(n int64) { progress.Add(n) }
		r, err := send(t, dir, here, o)
		if err != nil { // a line too short to log in over: it was never there
			if after >= 20_000 || s.conns.Load() != 1 {
				t.Errorf("cut after %d: %v, %d connections", after, err, s.conns.Load())
			}
			s.notWhole(t)
			continue
		}
		s.holds(t, dir, 0, 1)
		m := r.Machines[0]
		size := load(t, fsx.OS, dir, here).Bytes()
		if m.Connections < 2 || progress.Load() != size || s.written.Load() > size+int64(m.Connections)*(o.block+2000) {
			t.Errorf("cut after %d: %+v, progress %d of %d, %d bytes written", after, m, progress.Load(), size, s.written.Load())
		}
	}
}

// TestCutForever gives up after some connections that bring nothing forward, and
// goes on in the next run.
func TestCutForever(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 5)
	s.cut(func(n int64) int64 {
		if n == 1 {
			return 20_000
		}
		return 2000
	})
	_, err := send(t, dir, here, o)
	if err == nil || !strings.Contains(err.Error(), "machine 127.0.0.1, part 0, part0/graph.dgl") || !strings.Contains(err.Error(), "6 times in a row") {
		t.Errorf("got %v", err)
	}
	if n := s.conns.Load(); n != 1+6 && n != 6 {
		t.Errorf("%d connections", n)
	}
	s.notWhole(t)
	s.limit.Store(nil)
	r := mustSend(t, dir, here, o)
	if r.Machines[0].Kept < 8192 {
		t.Errorf("the second run kept %d bytes", r.Machines[0].Kept)
	}
	s.holds(t, dir, 0)
}

func TestHostKeys(t *testing.T) {
	other, _ := newKey(t)
	for name, c := range map[string]struct {
		known func(s *server) string
		want  string // "" is accepted
	}{
		"known":   {func(s *server) string { return s.knownLine(s.key.PublicKey()) }, ""},
		"unknown": {func(s *server) string { return "# nobody\n" }, "run `ssh -o UserKnownHostsFile="},
		"changed": {func(s *server) string { return "\n" + s.knownLine(other.PublicKey()) }, "known_hosts:2 says"},
		"revoked": {func(s *server) string {
			return s.knownLine(s.key.PublicKey()) + "@revoked * " + string(ssh.MarshalAuthorizedKey(s.key.PublicKey()))
		}, "known_hosts:2 revokes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			writeFile(t, o.KnownHosts[0], []byte(c.known(s)))
			dir := parts(t, 1, 6)
			_, err := send(t, dir, here, o)
			check := Check(t.Context(), fsx.OS, here, o)
			if c.want == "" {
				if err != nil || check != nil {
					t.Errorf("%v; %v", err, check)
				}
				return
			}
			for _, err := range []error{err, check} {
				if !errors.Is(err, ErrHostKey) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "SHA256:") {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
			if len(files(t, s.root)) > 0 {
				t.Error("files were sent")
			}
		})
	}
}

// TestHostWithSeveralKeys asks for the key that is known, of the two the machine has.
func TestHostWithSeveralKeys(t *testing.T) {
	_, o := serve(t)
	l, err := newLogin(fsx.OS, &o)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.algorithms(net.JoinHostPort(host, fmt.Sprint(o.Port))); !slices.Equal(got, []string{ssh.KeyAlgoED25519}) {
		t.Errorf("got %v", got)
	}
	if got := l.algorithms("10.0.0.1:22"); len(got) < 2 || got[0] != ssh.KeyAlgoED25519 {
		t.Errorf("an unknown host: %v", got)
	}
}

func TestLogin(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 7)
	_, stranger := newKey(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	protected, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	mine := o.Identities[0]
	name := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		what string
		key  []byte
		want string
	}{
		{"a stranger's key", stranger, "see whether `ssh -p"},
		{"no key", []byte("text"), "found no private key"},
		{"a protected key", pem.EncodeToMemory(protected), "is protected by a passphrase; give it to the agent"},
	} {
		writeFile(t, name, c.key)
		o.Identities = []string{name}
		if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	o.Identities = []string{}
	if _, err := send(t, dir, here, o); !errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), "--identity") {
		t.Errorf("nothing to log in with: %v", err)
	}
	o.Agent = serveAgent(t, mine)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
	o.Agent = filepath.Join(t.TempDir(), "none")
	if _, err := send(t, dir, here, o); !errors.Is(err, ErrLogin) || !strings.Contains(err.Error(), "agent does not answer") {
		t.Errorf("no agent: %v", err)
	}
}

func TestSilence(t *testing.T) {
	dir := parts(t, 2, 8)
	for name, tell := range map[string]func(*server){
		"server": func(s *server) { s.silent.Store(true) },
		"sftp":   func(s *server) { s.stuck.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			tell(s)
			o.Timeout = 200 * time.Millisecond
			_, err := send(t, dir, here, o)
			if !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), "machine 127.0.0.1, parts 0, 1: no answer within 200ms") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		s, o := serve(t)
		s.listener.Close()
		if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), "is it up") {
			t.Errorf("got %v", err)
		}
	})
}

func TestDisk(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 2, 9)
	s.free.Store(1000)
	if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), "found 1000 B free") || s.written.Load() > 0 {
		t.Errorf("too little room: %v, %d bytes written", err, s.written.Load())
	}
	s.free.Store(1 << 40)
	s.full.Store(80_000)
	_, err := send(t, dir, here, o)
	if err == nil || !strings.Contains(err.Error(), "part 1, part1/") || !strings.Contains(err.Error(), "has 1.00 TiB free") || s.conns.Load() != 2 {
		t.Errorf("a full disk: %v", err)
	}
	s.notWhole(t)
	s.full.Store(0)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0, 1)
}

func TestCorruptedThere(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 10)
	s.flip.Store(true)
	if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "when they were read back") {
		t.Errorf("got %v", err)
	}
	s.notWhole(t)
	s.flip.Store(false)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
}

// TestDamagedHere changes a file behind the back of its manifest: it is not sent.
func TestDamagedHere(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, name string){
		"flipped": func(t *testing.T, name string) { flipByte(t, name, 77) },
		"cut": func(t *testing.T, name string) {
			if err := os.Truncate(name, 40_000); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			dir := parts(t, 1, 11)
			damage(t, filepath.Join(dir, "part0/graph.dgl"))
			if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "graphmill verify") {
				t.Errorf("got %v", err)
			}
			s.notWhole(t)
			if _, err := os.Stat(filepath.Join(s.root, "parts/part0/graph.dgl")); err == nil {
				t.Error("the damaged file has its name there")
			}
		})
	}
	dir := parts(t, 1, 12)
	writeFile(t, filepath.Join(dir, "part0/new.dgl"), nil)
	if _, err := Load(t.Context(), fsx.OS, dir, here, 1); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "does not name") {
		t.Errorf("a file that the manifest does not name: %v", err)
	}
}

func TestOtherPartsThere(t *testing.T) {
	s, o := serve(t)
	first, second := parts(t, 1, 13), parts(t, 1, 14)
	mustSend(t, first, here, o)
	if _, err := send(t, second, here, o); !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), "--force") {
		t.Errorf("got %v", err)
	}
	s.holds(t, first, 0)
	if err := os.Remove(filepath.Join(s.root, "parts", store.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := send(t, second, here, o); !errors.Is(err, store.ErrExists) {
		t.Errorf("without its manifest: %v", err)
	}
	o.Force = true
	mustSend(t, second, here, o)
	s.holds(t, second, 0)
}

// TestForceCut replaces parts over a line that is cut: at no time the folder looks
// whole with files of both.
func TestForceCut(t *testing.T) {
	s, o := serve(t)
	first, second := parts(t, 1, 15), parts(t, 1, 16)
	mustSend(t, first, here, o)
	o.Force = true
	s.cut(func(n int64) int64 {
		if n == 2 {
			return 30_000
		}
		return 1
	})
	if _, err := send(t, second, here, o); err == nil {
		t.Fatal("sent over a line that is cut")
	}
	s.notWhole(t)
	s.limit.Store(nil)
	mustSend(t, second, here, o)
	s.holds(t, second, 0)
}

// TestSharedFolder sends to the folder itself, as where a machine of the list is
// this one: it is left as it is.
func TestSharedFolder(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 2, 17)
	if err := os.CopyFS(filepath.Join(s.root, "parts"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, o.Force = range []bool{false, true} {
		r := mustSend(t, dir, here, o)
		if d := cmp.Diff(files(t, dir), files(t, filepath.Join(s.root, "parts"))); d != "" || r.Machines[0].Bytes > 0 || s.written.Load() > 0 {
			t.Errorf("%+v; (-want +got):\n%.1000s", r, d)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, after := range []int64{0, 4096, 60_000} {
		s, o := serve(t)
		dir := parts(t, 2, 18)
		ctx, cancel := context.WithCancel(t.Context())
		var at int64
		o.Progress = func(n int64) {
			if at += n; at >= after {
				cancel()
			}
		}
		if after == 0 {
			s.silent.Store(true)
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		if _, err := load(t, fsx.OS, dir, here).Send(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.notWhole(t)
	}
}

// TestLocalFaults fails each call of the file system here in turn.
func TestLocalFaults(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 19)
	o.block = 1 << 20
	for at := int64(1); ; at++ {
		fault := &fsx.Fault{FS: fsx.OS, FailAt: at, Err: syscall.EIO}
		loaded, err := Load(t.Context(), fault, dir, here, 1)
		if err == nil {
			_, err = loaded.Send(t.Context(), o)
		}
		if fault.Calls() < at {
			if err != nil {
				t.Fatal(err)
			}
			s.holds(t, dir, 0)
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d failed: %v", at, err)
		}
		if _, err := os.Stat(filepath.Join(s.root, "parts", store.ManifestFile)); err == nil {
			t.Errorf("call %d failed, and the folder there looks whole", at)
		}
		if err := os.RemoveAll(filepath.Join(s.root, "parts")); err != nil {
			t.Fatal(err)
		}
	}
}

func flipByte(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serveAgent is an agent that holds one key.
func serveAgent(t *testing.T, key string) (socket string) {
	t.Helper()
	b, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ssh.ParseRawPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = agent.ServeAgent(ring, c) // ends when the client goes
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done; os.RemoveAll(dir) })
	return socket
}
