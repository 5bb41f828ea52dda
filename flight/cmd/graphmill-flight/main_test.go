package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrowflight "github.com/apache/arrow-go/v18/arrow/flight"
	"go.uber.org/goleak"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/certtest"
	"github.com/graphmill/graphmill/internal/cli"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testStore makes a store of a ring of ten nodes.
func testStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	edges := filepath.Join(dir, "edges.csv")
	write(t, edges, "src,dst\n0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,8\n8,9\n9,0\n")
	out := filepath.Join(dir, "g.store")
	build(t, edges, out)
	return out
}

// build imports tables.
func build(t *testing.T, from, out string) {
	t.Helper()
	src, err := ingest.Open(t.Context(), vfs.OS, from, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := assemble.Build(t.Context(), vfs.OS, w, src.Input, assemble.Options{Primary: graph.In, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), result.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// running runs the program until stop, which checks its end. It returns a client.
func running(t *testing.T, args ...string) (c arrowflight.Client, stop func()) {
	t.Helper()
	r, stdout := io.Pipe()
	var stderr bytes.Buffer
	cmd := newCommand(&cli.Terminal{Program: "graphmill-flight", Stdout: stdout, Stderr: &stderr})
	cmd.SetArgs(args)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		_ = stdout.CloseWithError(err)
		ended <- err
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ Addr string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		t.Fatal(err)
	}
	if c, err = arrowflight.NewClientWithMiddleware(ready.Addr, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	return c, func() {
		t.Helper()
		_ = c.Close()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("found %v, expected a program that ends without an error", err)
			}
		case <-time.After(time.Minute): // against a hang
			t.Fatal("found a program that goes on when it should end")
		}
		if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
			t.Errorf("found %q, %v after the line, expected nothing", rest, err)
		}
	}
}

// The test goes from the command line to a batch, and then ends the program.
func TestServe(t *testing.T) {
	c, stop := running(t, testStore(t), "--fanout", "2,2", "--batch_size", "4", "--threads", "2")
	defer stop()
	info, err := c.GetFlightInfo(t.Context(), &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD})
	if err != nil || info.TotalRecords != 3 {
		t.Fatalf("found %v, %v, expected 3 batches", info, err)
	}
	calls, err := c.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for ; err == nil; messages++ {
		_, err = calls.Recv()
	}
	if !errors.Is(err, io.EOF) || messages != 1+3+1 { // the schema, the batches, the end
		t.Errorf("found %v after %d messages, expected the end after the schema and 3 batches", err, messages)
	}
}

// Seeds are asked for by their original ids and at a time: the answer is the subgraph of what was before it.
func TestAsked(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "graph.yaml"), "nodes: {p: {}, q: {}}\nedges:\n  p:r:p: {table: e.csv, columns: {at: int64}}\n  q:s:q: {table: f.csv, columns: {at: float64}}\n")
	write(t, filepath.Join(dir, "e.csv"), "src,dst,at\nada,bob,5\ncy,bob,7\ndee,bob,9\n")
	write(t, filepath.Join(dir, "f.csv"), "src,dst,at\n7,9,0.5\n8,9,0.75\n")
	out := filepath.Join(dir, "g.store")
	build(t, dir, out)
	nodes := func(c arrowflight.Client, typ, request string) (ids []int64, err error) {
		calls, err := c.DoGet(t.Context(), &arrowflight.Ticket{Ticket: []byte(request)})
		if err != nil {
			return nil, err
		}
		r, err := arrowflight.NewRecordReader(calls)
		if err != nil {
			return nil, err
		}
		defer r.Release()
		for r.Next() {
			at := r.RecordBatch().Schema().FieldIndices("nodes/" + typ + "/n_id")[0]
			ids = append(ids, r.RecordBatch().Column(at).(*array.List).ListValues().(*array.Int64).Int64Values()...)
		}
		return ids, r.Err()
	}
	c, stop := running(t, out, "--fanout", "p:r:p=-1", "--seeds", "p", "--scope", "seed", "--before", "at", "--seed-time", "100", "--untimed", "q:s:q")
	defer stop()
	for request, want := range map[string][]int64{
		`{"ids":["bob"],"times":[8]}`:             {1, 0, 2},
		`{"ids":["bob"],"times":[6]}`:             {1, 0},
		`{"ids":["bob","dee"],"times":[10,1]}`:    {1, 3, 0, 2, 3},
		`{"seeds":[1],"times":[8],"epoch":7}`:     {1, 0, 2},
		`{"ids":["ada"],"times":[100],"first":3}`: {0},
	} {
		if got, err := nodes(c, "p", request); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: found the nodes %v, %v, expected %v", request, got, err, want)
		}
	}
	for request, want := range map[string]string{
		`{"ids":["eve"],"times":[8]}`:             `found the id "eve", expected the id of a node of type p`,
		`{"ids":["bob"]}`:                         "expected a time per seed",
		`{"ids":["bob"],"times":[8,9]}`:           "found 2 times of 1 seeds",
		`{"ids":["bob"],"times":[8.5]}`:           "found the time 8.5, expected a whole number",
		`{"ids":["bob"],"seeds":[1],"times":[8]}`: "found seeds and ids",
		`{"times":[8]}`:                           "found times without seeds",
		`{"ids":[1.5],"times":[8]}`:               "found the id 1.5, expected a text or a whole number",
	} {
		if got, err := nodes(c, "p", request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, %v, expected an error with %q", request, got, err, want)
		}
	}
	plain, stopPlain := running(t, out, "--fanout", "q:s:q=-1", "--seeds", "q")
	defer stopPlain()
	if got, err := nodes(plain, "q", `{"ids":[9,"7"]}`); err != nil || len(got) != 3 {
		t.Errorf("found the nodes %v, %v, expected three", got, err)
	}
	if _, err := nodes(plain, "q", `{"ids":[9],"times":[1]}`); err == nil || !strings.Contains(err.Error(), "a plan without times") {
		t.Errorf("found %v for a time without a plan that has times, expected an error", err)
	}
}

// With --refresh the server takes over the versions that appends make: new calls are answered from them, a call that is under way goes on with its own, and a store that
// is gone for a while ends nothing.
func TestRefresh(t *testing.T) {
	dir := t.TempDir()
	tables := func(name, rows string) string {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "graph.yaml"), "nodes: {p: {table: p.csv, id: {column: id, dtype: string}}}\nedges: {\"p:r:p\": {table: e.csv}}\n")
		write(t, filepath.Join(folder, "p.csv"), "id\nnode-"+name+"\n")
		write(t, filepath.Join(folder, "e.csv"), "src,dst\n"+rows)
		return folder
	}
	out := filepath.Join(dir, "g.store")
	build(t, tables("0", "node-0,node-0\n"), out)
	c, stop := running(t, out, "--fanout", "-1", "--refresh", "5ms")
	defer stop()
	ask := func(request string) (schema string, edges int, err error) {
		calls, err := c.DoGet(t.Context(), &arrowflight.Ticket{Ticket: []byte(request)})
		if err != nil {
			return "", 0, err
		}
		r, err := arrowflight.NewRecordReader(calls)
		if err != nil {
			return "", 0, err
		}
		defer r.Release()
		schema, _ = r.Schema().Metadata().GetValue("graphmill")
		for r.Next() {
			at := r.RecordBatch().Schema().FieldIndices("edges/p:r:p/e_id")[0]
			edges += r.RecordBatch().Column(at).(*array.List).ListValues().Len()
		}
		return schema, edges, r.Err()
	}
	for k := range 4 {
		if k > 0 {
			folder := tables(fmt.Sprint(k), fmt.Sprintf("node-%d,node-0\n", k))
			if _, err := graphmill.Append(t.Context(), out, folder, option.Append{Run: option.Run{NoReport: true}}); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := store.Sum(vfs.OS, out)
		if err != nil {
			t.Fatal(err)
		}
		for { // until the server has seen it
			schema, edges, err := ask(`{"ids":["node-0"]}`)
			if err != nil {
				t.Fatal(err)
			}
			if edges < 1 || edges > k+1 {
				t.Fatalf("found %d edges after %d appends, expected 1 to %d", edges, k, k+1)
			}
			if strings.Contains(schema, sum) {
				if edges != k+1 {
					t.Fatalf("found %d edges of the version %s, expected %d", edges, sum, k+1)
				}
				break
			}
			if err := t.Context().Err(); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := ask(fmt.Sprintf(`{"ids":["node-%d"]}`, k)); err != nil {
			t.Errorf("node-%d: %v", k, err)
		}
	}
	if err := os.Rename(out, out+".away"); err != nil {
		t.Fatal(err)
	}
	if _, edges, err := ask(`{"ids":["node-0"]}`); err != nil || edges != 4 {
		t.Errorf("found %d edges, %v without a store, expected the 4 of the version that the server has", edges, err)
	}
	if err := os.Rename(out+".away", out); err != nil {
		t.Fatal(err)
	}
}

// A key or a token that other users may read is warned of.
func TestSecretsOfOthers(t *testing.T) {
	dir := testStore(t)
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "correct-horse-battery\n")
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o640: true} {
		if err := os.Chmod(token, mode); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		cmd := newCommand(&cli.Terminal{Program: "graphmill-flight", Stdout: &stdout, Stderr: &stderr})
		cmd.SetArgs([]string{dir, "--fanout", "2", "--token-file", token})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = cmd.ExecuteContext(ctx)
		if got := strings.Contains(stderr.String(), "which other users of this machine may read"); got != warned {
			t.Errorf("mode %04o: found %q, expected a warning: %t", mode, stderr.String(), warned)
		}
	}
}

// An error that keeps the server from starting says what to do.
func TestErrors(t *testing.T) {
	dir := testStore(t)
	token, short := filepath.Join(t.TempDir(), "token"), filepath.Join(t.TempDir(), "short")
	write(t, token, "correct-horse-battery\n")
	write(t, short, "two words, too many\n")
	old := filepath.Join(t.TempDir(), "old")
	certtest.Issue(t, old, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, exitUsage, "expected one STORE"},
		{[]string{dir}, exitUsage, "try --fanout 15,10"},
		{[]string{dir, "--fanout", "x"}, exitUsage, "fanout"},
		{[]string{dir, "--fanout", "1", "--thread", "1"}, exitUsage, "did you mean --threads?"},
		{[]string{dir, "--fanout", "1", "--listen", "0.0.0.0:0"}, exitUsage, "expected --tls-cert and --tls-key to encrypt what is sent and --token-file"},
		{[]string{dir, "--fanout", "1", "--listen", "0.0.0.0:0", "--token-file", token}, exitUsage, "expected --tls-cert"},
		{[]string{dir, "--fanout", "1", "--listen", "nowhere"}, exitFailed, "expected HOST:PORT"},
		{[]string{dir, "--fanout", "1", "--tls-cert", "cert.pem"}, exitUsage, "found one of --tls-cert and --tls-key"},
		{[]string{dir, "--fanout", "1", "--tls-cert", token, "--tls-key", token}, exitFailed, "expected a certificate and its key"},
		{[]string{dir, "--fanout", "1", "--tls-cert", "absent.pem", "--tls-key", token}, exitFailed, "absent.pem"},
		{[]string{dir, "--fanout", "1", "--token-file", short}, exitFailed, "expected 16 to 4096 printable ASCII characters"},
		{[]string{dir, "--fanout", "1", "--token-file", "absent"}, exitFailed, "absent"},
		{[]string{dir, "--fanout", "1", "--threads", "0"}, exitUsage, "found --threads 0"},
		{[]string{dir, "--fanout", "1", "--streams", "0"}, exitUsage, "found --streams 0"},
		{[]string{dir, "--fanout", "1", "--max-message", "2GiB"}, exitUsage, "found --max-message 2147483648"},
		{[]string{dir, "--fanout", "1", "--send-timeout", "0s"}, exitUsage, "found --send-timeout 0s"},
		{[]string{dir, "--fanout", "1", "--tls-cert", old + ".cert", "--tls-key", old + ".key"}, exitFailed, "found a certificate for the time from"},
		{[]string{dir, "--fanout", "1", "--memory", "1KiB"}, exitFailed, "found --memory 1.00 KiB"},
		{[]string{dir, "--fanout", "1", "--scope", "seed", "--ops"}, exitFailed, "found ops with scope seed"},
		{[]string{dir, "--fanout", "1", "--features", "x"}, exitUsage, `found no column "x"`},
		{[]string{filepath.Dir(dir), "--fanout", "1"}, exitFailed, "graph.json"},
	} {
		var stdout, stderr bytes.Buffer
		status := runCommand(append([]string{"graphmill-flight"}, c.args...), &stdout, &stderr)
		if status != c.status || !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
			t.Errorf("%v: found status %d, %q, %q, expected status %d and %q", c.args, status, stdout.String(), stderr.String(), c.status, c.want)
		}
		if strings.Contains(stderr.String(), "two words") {
			t.Errorf("%v: found the token in %q", c.args, stderr.String())
		}
	}
}
