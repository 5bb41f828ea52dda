//go:build interop

package graphmill_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
)

// gateway is a versitygw over a folder, and a proxy before it that can end its connections.
type gateway struct {
	folder, address string
	program         *exec.Cmd
	proxy           net.Listener
	mu              sync.Mutex
	open            map[net.Conn]bool
}

const gatewaySecret = "secret-word"

func startGateway(t *testing.T) *gateway {
	t.Helper()
	peers := exec.Command("bench/peers.sh", "s3")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh s3: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	g := &gateway{folder: t.TempDir(), address: address, open: map[net.Conn]bool{}}
	if err := os.Mkdir(filepath.Join(g.folder, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	g.program = exec.Command(filepath.Join(filepath.Dir(string(bytes.TrimSpace(python))), "versitygw"), "--port", address, "posix", g.folder)
	g.program.Env = append(os.Environ(), "ROOT_ACCESS_KEY=AKIDTEST", "ROOT_SECRET_KEY="+gatewaySecret)
	if err := g.program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.program.Process.Kill()
		_ = g.program.Wait()
	})
	for n := 0; ; n++ {
		if r, err := http.Get("http://" + address); err == nil {
			_ = r.Body.Close()
			break
		}
		if n == 200 {
			t.Fatal("found no answer of versitygw, expected one")
		}
		time.Sleep(50 * time.Millisecond) // between two looks
	}
	if g.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.proxy.Close() })
	go g.serve()
	return g
}

func (g *gateway) serve() {
	for {
		from, err := g.proxy.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", g.address)
		if err != nil {
			_ = from.Close()
			continue
		}
		g.mu.Lock()
		g.open[from], g.open[to] = true, true
		g.mu.Unlock()
		for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1])
				_, _ = pair[0].Close(), pair[1].Close()
			}()
		}
	}
}

// cut ends all connections.
func (g *gateway) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		_ = c.Close()
	}
	clear(g.open)
}

// command is graphmill with the credentials and a cache of its own.
func (g *gateway) command(program, cache string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "AWS_ENDPOINT_URL=http://"+g.proxy.Addr().String(), "AWS_ACCESS_KEY_ID=AKIDTEST", "AWS_SECRET_ACCESS_KEY="+gatewaySecret, "AWS_REGION=us-east-1", "GRAPHMILL_CACHE="+cache)
	return c
}

// TestPeerObjectStores runs every command that reads and writes folders on a real server with the protocol of S3.
func TestPeerObjectStores(t *testing.T) {
	g := startGateway(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "graphmill")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/graphmill").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cache := filepath.Join(dir, "cache")
	run := func(args ...string) string {
		t.Helper()
		out, err := g.command(program, cache, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("graphmill %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if bytes.Contains(out, []byte(gatewaySecret)) {
			t.Fatalf("graphmill %s: found the secret in the output", strings.Join(args, " "))
		}
		return string(out)
	}
	var table strings.Builder
	table.WriteString("src,dst,w\n")
	draw := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		fmt.Fprintf(&table, "%d,%d,%.3f\n", draw.IntN(5000), draw.IntN(5000), draw.Float64())
	}
	if err := os.WriteFile(filepath.Join(dir, "edges.csv"), []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.folder, "bucket", "edges.csv"), []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	// One line per step: the same command on the disk and in the bucket, where %s is the folder.
	steps := []string{
		"import %s/edges.csv --src src --dst dst --out %s/g.store",
		"verify %s/g.store",
		"sample %s/g.store --fanout 5,5 --limit-seeds 3000 --out %s/memory",
		"sample %s/g.store --fanout 5,5 --limit-seeds 3000 --executor stream --memory 64MiB --out %s/stream",
		"sample %s/g.store --fanout 5,5 --limit-seeds 300 --format tfrecord --out %s/records",
		"partition %s/g.store --parts 4 --out %s/cut",
		"dispatch %s/g.store --partitions-dir %s/cut --out %s/parts",
		"export %s/g.store --to chunked --out %s/chunked",
		"info %s/g.store",
		"walk %s/g.store --length 10 --walks 1 --out %s/walks",
	}
	for _, step := range steps {
		for _, where := range []string{dir, "s3://bucket"} {
			run(strings.Fields(strings.ReplaceAll(step, "%s", where))...)
		}
	}
	same := func(name string) {
		t.Helper()
		a, err := os.ReadFile(filepath.Join(dir, name, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(g.folder, "bucket", name, "manifest.json"))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: found another manifest in the bucket, %v\n%s\n%s", name, err, a, b)
		}
		run("verify", "s3://bucket/"+name)
	}
	for _, name := range []string{"g.store", "memory", "stream", "records", "cut", "parts", "chunked", "walks"} {
		same(name)
	}
	if left, err := os.ReadDir(filepath.Join(cache, "staging", "s3", "bucket")); err != nil && !os.IsNotExist(err) || len(left) > 0 {
		t.Errorf("found %v in the staging folder, %v, expected nothing", left, err)
	}

	t.Run("beam", func(t *testing.T) {
		// So do jobs of workers, whose work folder lies in the bucket as well.
		workers := filepath.Join(dir, "graphmill-beam")
		if out, err := exec.Command("go", "build", "-C", "beam", "-o", workers, "./cmd/graphmill-beam").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		jobs := []struct{ job, equals string }{
			{"import s3://bucket/edges.csv --src src --dst dst --out s3://bucket/beam.store", "g.store"},
			{"sample s3://bucket/g.store --fanout 5,5 --limit-seeds 3000 --method shuffle --out s3://bucket/beam.shuffle", "memory"},
			{"sample s3://bucket/g.store --fanout 5,5 --limit-seeds 300 --format tfrecord --array-shards 2 --out s3://bucket/beam.records", "records"},
			{"dispatch s3://bucket/g.store --partitions-dir s3://bucket/cut --out s3://bucket/beam.parts", "parts"},
		}
		if proof.More(t, "a division, which has some two hundred barriers, on a real server of objects") {
			for _, where := range []string{dir, "s3://bucket"} {
				run("generate", "rmat", "--scale", "10", "--out", where+"/small.store")
			}
			run("partition", dir+"/small.store", "--parts", "4", "--method", "ranges", "--out", dir+"/ranges")
			jobs = append(jobs, struct{ job, equals string }{"partition s3://bucket/small.store --parts 4 --out s3://bucket/beam.cut", "ranges"})
		}
		for _, x := range jobs {
			args := strings.Fields(x.job)
			out, err := g.command(workers, cache, args...).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", x.job, err, out)
				continue
			}
			a, err := os.ReadFile(filepath.Join(dir, x.equals, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimPrefix(args[len(args)-1], "s3://bucket/")
			if b, err := os.ReadFile(filepath.Join(g.folder, "bucket", name, "manifest.json")); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: found another manifest than of one process, %v\n%s\n%s", x.job, err, a, b)
			}
			run("verify", "s3://bucket/"+name)
		}
		// The server may leave folders without objects, where several are removed at the same time.
		if err := filepath.WalkDir(filepath.Join(g.folder, "bucket"), func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(name, ".work") {
				t.Errorf("found %s, expected no work folder", name)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("cuts", func(t *testing.T) {
		// All connections end at 20 moments of runs that read from the bucket and write to it: they go on, and lose nothing.
		for seed := range uint64(20) {
			draw := rand.New(rand.NewPCG(seed, 3))
			c := g.command(program, cache, "sample", "s3://bucket/g.store", "--fanout", "5,5", "--limit-seeds", "3000", "--executor", "stream", "--memory", "64MiB", "--out", "s3://bucket/stream", "--force")
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(draw.IntN(200)) * time.Millisecond) // a random moment of the run
			g.cut()
			if err := c.Wait(); err != nil {
				t.Errorf("seed %d: %v\n%s", seed, err, &out)
			}
			same("stream")
		}
	})
	t.Run("loader", func(t *testing.T) {
		// NodeLoader yields the same batches of a store in the bucket.
		peers := exec.Command("bench/peers.sh", "tables")
		peers.Stderr = os.Stderr
		python, err := peers.Output()
		if err != nil {
			t.Fatalf("bench/peers.sh tables: %v", err)
		}
		c := g.command(string(bytes.TrimSpace(python)), cache, "-c", `
import sys
from graphmill import NodeLoader
for executor in ("memory", "stream"):
    digests = []
    for store in sys.argv[1:]:
        with NodeLoader(store, [5, 5], 512, seed=3, as_="numpy", edge_features="all", executor=executor) as loader:
            digests.append([(b.n_id.tobytes(), b.edge_index.tobytes(), b.edge_attr["w"].tobytes()) for b in loader])
    assert len(digests[0]) == 10 and digests[0] == digests[1]
`, filepath.Join(dir, "g.store"), "s3://bucket/g.store")
		c.Env = append(c.Env, "PYTHONPATH=python/src", "GRAPHMILL_COMMAND="+program)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("damage", func(t *testing.T) {
		file := filepath.Join(g.folder, "bucket", "memory", "manifest.json")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(b, ' '), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := g.command(program, cache, "verify", "s3://bucket/memory").CombinedOutput(); err == nil {
			t.Errorf("found no error for a damaged manifest\n%s", out)
		}
	})
	t.Run("refused", func(t *testing.T) {
		for _, c := range []struct{ env, in, want string }{
			{"AWS_SECRET_ACCESS_KEY=other", "s3://bucket/g.store", "permission denied"},
			{"AWS_ACCESS_KEY_ID=AKIDOTHER", "s3://bucket/g.store", "the server says 404 XAdminUserNotFound"},
			{"AWS_ENDPOINT_URL=http://127.0.0.1:1", "s3://bucket/g.store", "connection refused"},
			{"AWS_ENDPOINT_URL=nonsense", "s3://bucket/g.store", "expected https://HOST"},
			{"X=1", "s3://other-bucket/g.store", "no such bucket"},
			{"X=1", "s3://bucket/none", "not a store"},
		} {
			cmd := g.command(program, cache, "sample", c.in, "--fanout", "2", "--out", "s3://bucket/refused")
			cmd.Env = append(cmd.Env, c.env)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte(c.want)) || bytes.Contains(out, []byte(gatewaySecret)) {
				t.Errorf("%s %s: found %v\n%s\nexpected status 1 and %q", c.env, c.in, err, out, c.want)
			}
		}
		if _, err := os.Stat(filepath.Join(g.folder, "bucket", "refused")); !os.IsNotExist(err) {
			t.Errorf("found an output of runs that failed, %v", err)
		}
	})
	t.Run("lost", func(t *testing.T) {
		// The server ends for good: the run says so, and what it sent does not look whole.
		c := g.command(program, cache, "sample", "s3://bucket/g.store", "--fanout", "5,5", "--limit-seeds", "3000", "--out", "s3://bucket/lost")
		var out bytes.Buffer
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // any moment of a run of seconds
		_ = g.program.Process.Kill()
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), "s3://bucket/") {
			t.Errorf("found %v, expected status 1 and an address\n%s", err, &out)
		}
		if _, err := os.Stat(filepath.Join(g.folder, "bucket", "lost", "manifest.json")); !os.IsNotExist(err) {
			t.Errorf("found a manifest of a run that failed, %v", err)
		}
	})
}
