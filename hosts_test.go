package graphmill_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/certtest"
	bounds "github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/operation/serving"
	"github.com/graphmill/graphmill/internal/secret"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/storetest"
	"github.com/graphmill/graphmill/option"
)

// hostStore starts hosts of a store, of all parts or of those that are given, and returns their addresses. They run until end.
func hostStore(t *testing.T, dir string, files secret.Files, parts int, only ...int) (addresses []string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	end = func() {
		cancel()
		running.Wait()
	}
	for part := range parts {
		if only != nil && !slices.Contains(only, part) {
			continue
		}
		ready, failed := make(chan string, 1), make(chan error, 1)
		say := func(text string) { t.Log(text) }
		h := serving.Hosting{Part: part, Parts: parts, Listen: "127.0.0.1:0", Secrets: files, Threads: 2, Connections: 64, Say: say, Warn: say,
			Ready: func(address, _ string) error { ready <- address; return nil }}
		running.Go(func() { failed <- h.Serve(ctx, dir) })
		select {
		case address := <-ready:
			addresses = append(addresses, address)
		case err := <-failed:
			t.Fatal(err)
		}
	}
	return addresses, end
}

// Batches of hosts are those of the whole store, byte for byte, with any number of hosts and threads.
func TestBatchesHosts(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	types := map[string][]int{"rates": {3, 2}, "knows": {2, 2}}
	cases := map[string]option.Batches{
		"features":  {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Shuffle: true, Epochs: 3, Epoch: 2}},
		"edges":     {Draw: option.Draw{FanoutByType: types, Direction: "out"}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{EdgeFeatures: []string{"all"}}},
		"no e_id":   {Draw: option.Draw{FanoutByType: types, NoEdgeIDs: true}, Batching: option.Batching{SeedType: []string{"item"}}, Columns: option.Columns{EdgeFeatures: []string{"stars"}}},
		"joined":    {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{Joined: map[string][]string{"item/x": {"b", "a"}, "user:rates:item/z": {"day", "stars"}}}},
		"weighted":  {Order: "weighted:weight", Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 2}},
		"rank":      {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Rank: 2, Ranks: 4, Epochs: 2, Shuffle: true}},
		"seed":      {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeSeed}, Batching: option.Batching{SeedType: []string{"user"}, LimitSeeds: 200}},
		"epoch":     {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeEpoch}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 3}, Columns: option.Columns{Features: []string{}}},
		"labor":     {Draw: option.Draw{FanoutByType: types, Sampler: option.SamplerLabor}, Batching: option.Batching{SeedType: []string{"user"}}},
		"ops":       {Draw: option.Draw{FanoutByType: types, Ops: true, Expand: option.ExpandAll}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{EdgeFeatures: []string{"stars"}}},
		"both":      {Draw: option.Draw{FanoutByType: map[string][]int{"knows": {2, 2}}, Subgraph: "bidirectional"}, Batching: option.Batching{SeedType: []string{"user"}}},
		"links":     {Draw: option.Draw{FanoutByType: types, Negatives: 2}, Batching: option.Batching{Seeds: "user:rates:item", BatchSize: 700}},
		"positives": {Draw: option.Draw{FanoutByType: types, Negatives: 1.5, NegativesHow: "triplet", Positives: "user:rates:item"}, Batching: option.Batching{Seeds: "user", BatchSize: 300, Epochs: 3, Shuffle: true}},
		"ages":      {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeSeed, Before: "day", Untimed: []string{"knows"}}, Batching: option.Batching{SeedType: []string{"user"}, SeedTime: "age", LimitSeeds: 300}, Columns: option.Columns{Features: []string{"weight"}}, Ages: option.Ages{Age: map[string]string{"user": "age", "item": "a", "rates": "day"}}},
		"recent":    {Draw: option.Draw{FanoutByType: map[string][]int{"rates": {3, 2}}, Scope: option.ScopeSeed, Before: "day", TemporalStrategy: "last"}, Batching: option.Batching{Seeds: "user:rates:item", LimitSeeds: 300}},
	}
	for _, parts := range []int{1, 4} {
		hosts, end := hostStore(t, st.Dir(), secret.Files{}, parts)
		for name, o := range cases {
			t.Run(fmt.Sprint(name, " ", parts), func(t *testing.T) {
				if o.BatchSize == 0 {
					o.BatchSize = 64
				}
				want := batches(t, st, o)
				if len(want) == 0 {
					t.Fatal("found no batches")
				}
				o.Hosts = hosts
				for _, o.Threads = range []int{1, 3} {
					if got := batches(t, st, o); !reflect.DeepEqual(got, want) {
						t.Errorf("found other batches with %d threads", o.Threads)
					}
				}
			})
		}
		end()
	}
}

// Connections with certificates and a token give the same batches; wrong hosts, tokens, stores and options are named.
func TestHostsRefuse(t *testing.T) {
	defer goleak.VerifyNone(t)
	st, other := rated(t), rmat(t)
	name := filepath.Join(t.TempDir(), "host")
	certtest.Issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	token, wrong := name+".token", name+".wrong"
	for file, text := range map[string]string{token: "0123456789abcdef\n", wrong: "0123456789abcdeg\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain, endPlain := hostStore(t, st.Dir(), secret.Files{}, 2)
	defer endPlain()
	guarded, endGuarded := hostStore(t, st.Dir(), secret.Files{Certificate: name + ".cert", Key: name + ".key", Token: token}, 2)
	defer endGuarded()
	base := option.Batches{Draw: option.Draw{FanoutByType: map[string][]int{"knows": {2}}}, Batching: option.Batching{SeedType: []string{"user"}, BatchSize: 100}}
	want := batches(t, st, base)
	with := func(change func(o *option.Batches)) option.Batches {
		o := base
		change(&o)
		return o
	}
	secure := with(func(o *option.Batches) { o.Hosts, o.HostsToken, o.HostsCA = guarded, token, name+".cert" })
	if got := batches(t, st, secure); !reflect.DeepEqual(got, want) {
		t.Error("found other batches over encrypted connections")
	}
	for _, c := range []struct {
		o    option.Batches
		st   *graphmill.Store
		want string
	}{
		{with(func(o *option.Batches) { o.Hosts = plain[:1] }), st, "found part 0 of 2, expected one of 1"},
		{with(func(o *option.Batches) { o.Hosts = []string{plain[0], plain[0]} }), st, "expected each part once"},
		{with(func(o *option.Batches) { o.Hosts = []string{"nowhere"} }), st, "expected HOST:PORT"},
		{with(func(o *option.Batches) { o.Hosts, o.FanoutByType, o.Fanout, o.SeedType = plain, nil, []int{2}, nil }), other, "found a loader of the store"},
		{with(func(o *option.Batches) { o.Hosts, o.HostsCA = guarded, name+".cert" }), st, "found another token, or none"},
		{with(func(o *option.Batches) { o.Hosts, o.HostsCA, o.HostsToken = guarded, name+".cert", wrong }), st, "found another token, or none"},
		{with(func(o *option.Batches) { o.Hosts, o.HostsCA = guarded, token }), st, "found no certificate"},
		{with(func(o *option.Batches) { o.Hosts, o.HostsCA = plain, name+".cert" }), st, "first record does not look like a TLS handshake"},
		{with(func(o *option.Batches) { o.Hosts, o.Executor = plain, option.ExecutorStream }), st, "found `Hosts` and `Executor` stream"},
		{with(func(o *option.Batches) { o.Hosts, o.Texts = plain, []string{"#id"} }), st, "expected no columns of texts"},
		{with(func(o *option.Batches) { o.Hosts, o.Messages = plain, []string{"rates:stars=1"} }), st, "found `Hosts` with `Messages`"},
		{with(func(o *option.Batches) { o.Hosts, o.Subgraph = plain, "induced" }), st, "found subgraphs with all edges between their nodes"},
		{with(func(o *option.Batches) { o.Hosts, o.Memory = plain, 1<<30 }), st, "found `Hosts` and `Memory`"},
		{with(func(o *option.Batches) { o.HostsToken = token }), st, "found `HostsToken`"},
	} {
		l, err := graphmill.NewLoader(t.Context(), c.st, c.o)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}

// A host of a store in a bucket fetches its share of the large arrays, and a loader none of them; batches are those of the whole store, in shards or not.
func TestHostsFetchTheirShare(t *testing.T) {
	server := objectstest.New(t, "hosts")
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	const nodes, width, edges = 60_000, 100, 200_000 // 24 MB of columns, in blocks of 4 MiB
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	ends := make([]byte, 0, 16*edges)
	for range 2 * edges {
		ends = binary.LittleEndian.AppendUint64(ends, uint64(r.IntN(nodes)))
	}
	x := make([]byte, 4*nodes*width)
	for i := range nodes * width {
		binary.LittleEndian.PutUint32(x[4*i:], math.Float32bits(float32(i)))
	}
	writeNpy(t, dir, "edges.npy", "i8", []int{2, edges}, ends)
	writeNpy(t, dir, "x.npy", "f4", []int{nodes, width}, x)
	yaml := "nodes:\n  n: {columns: {x: x.npy}}\nedges:\n  n:to:n: {table: edges.npy}\n"
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := graphmill.Import(t.Context(), dir, filepath.Join(dir, "g.store"), option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	if err := storetest.Divide(st.Dir(), filepath.Join(dir, "shards.store"), 5, int(bounds.ShardAlign)); err != nil {
		t.Fatal(err)
	}
	o := option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 5000, LimitSeeds: 20_000, Shuffle: true}}
	want := batches(t, st, o)
	for _, name := range []string{"g.store", "shards.store"} {
		server.PutFolder(t, filepath.Join(dir, name), "hosts/"+name)
		var mu sync.Mutex
		asked := map[string]int64{}
		server.Fault = func(_ http.ResponseWriter, req *http.Request) bool {
			var from, to int64
			if _, err := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-%d", &from, &to); err == nil {
				mu.Lock()
				defer mu.Unlock()
				asked[store.FileOf(filepath.Base(req.URL.Path))] += to - from + 1
			}
			return false
		}
		address := "s3://hosts/" + name
		hosts, end := hostStore(t, address, secret.Files{}, 2, 0)
		o.Hosts = hosts
		if _, err := sampling.OpenLoader(t.Context(), address, o); err == nil || !strings.Contains(err.Error(), "found part 0 of 2") {
			t.Errorf("%s: found %v, expected a part that is missing", name, err)
		}
		mu.Lock()
		if n := asked["x.npy"]; n < 4*nodes*width/2 || n > 4*nodes*width/2+2*(4<<20) {
			t.Errorf("%s: found %d bytes fetched of x by a host of a half, expected about a half of %d", name, n, 4*nodes*width)
		}
		mu.Unlock()
		others, endOthers := hostStore(t, address, secret.Files{}, 2, 1)
		o.Hosts = append(others, hosts...)
		l, err := sampling.OpenLoader(t.Context(), address, o)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range b.Columns {
				if !bytes.Equal(c.Values, want[n].Column(c.Name).Values) {
					t.Errorf("%s: batch %d: found another %s", name, n, c.Name)
				}
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: found %d batches, expected %d", name, n, len(want))
		}
		l.Close()
		end()
		endOthers()
	}
}

// A caller who cancels does not wait for a host that went away.
func TestHostsCancelled(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	hosts, end := hostStore(t, st.Dir(), secret.Files{}, 1)
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := option.Batches{Run: option.Run{Warn: func(text string) {
		if strings.Contains(text, "waiting for the host") {
			cancel()
		}
	}}, Draw: option.Draw{FanoutByType: map[string][]int{"knows": {2}}}, Batching: option.Batching{SeedType: []string{"user"}, BatchSize: 8, Epochs: 1000}, Hosting: option.Hosting{Hosts: hosts}}
	var last error
	for _, err := range graphmill.Batches(ctx, st, o) {
		end() // at the first batch
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("found %v, expected the cancellation", last)
	}
}

// A host counts the questions of its loaders, and is ready once its store is open.
func TestHostMetrics(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready, failed := make(chan [2]string, 1), make(chan error, 1)
	h := serving.Hosting{Parts: 1, Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Threads: 2, Connections: 64, Say: func(string) {}, Warn: func(string) {},
		Ready: func(address, http string) error { ready <- [2]string{address, http}; return nil }}
	go func() { failed <- h.Serve(ctx, st.Dir()) }()
	at := <-ready
	o := option.Batches{Draw: option.Draw{FanoutByType: map[string][]int{"knows": {3, 2}}}, Batching: option.Batching{SeedType: []string{"user"}, BatchSize: 64}}
	o.Hosts = []string{at[0]}
	made := len(batches(t, st, o))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]string{"/readyz": "ok\n", "/healthz": "ok\n", "/metrics": "graphmill_store_info"} {
		r, err := client.Get("http://" + at[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("%s: found status %d and %s, %v, expected %q", path, r.StatusCode, text, err, want)
		}
		if path == "/metrics" {
			for _, kind := range []string{"draws", "rows"} {
				m := regexp.MustCompile(`(?m)^graphmill_questions_total\{kind="` + kind + `",outcome="answered"\} (\d+)$`).FindStringSubmatch(string(text))
				if m == nil || m[1] == "0" {
					t.Errorf("found no questions for %s of %d batches in\n%s", kind, made, text)
				}
			}
		}
	}
	cancel()
	if err := <-failed; err != nil {
		t.Error(err)
	}
}
