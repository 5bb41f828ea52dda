package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// shopStore imports a typed graph with users, items and their tags: columns of numbers, strings and times, ids of strings,
// both directions. Its relation names do not sort as its types do.
func shopStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	table := func(name, header string, rows int, row func(i int) string) {
		var b bytes.Buffer
		b.WriteString(header + "\n")
		for i := range rows {
			b.WriteString(row(i) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const users, items, tags = 3000, 2000, 50
	skewed := func(n int) int { return int(r.Float64() * r.Float64() * r.Float64() * float64(n)) }
	table("user.csv", "id,age,name,born", users, func(i int) string {
		return fmt.Sprintf("u%d,%d,%s,%d", i, r.IntN(90), strings.Repeat("x", r.IntN(9)), r.IntN(1000))
	})
	table("item.csv", "id,price", items, func(i int) string { return fmt.Sprintf("i%d,%.3f", i, r.Float64()*100) })
	table("tag.csv", "id,title", tags, func(i int) string { return fmt.Sprintf("t%d,tag %d", i, i) })
	table("rates.csv", "user,item,stars,time", 30_000, func(int) string {
		return fmt.Sprintf("u%d,i%d,%d,%d", skewed(users), skewed(items), r.IntN(6), r.IntN(1000))
	})
	table("knows.csv", "a,b,time", 15_000, func(int) string {
		return fmt.Sprintf("u%d,u%d,%d", skewed(users), r.IntN(users), r.IntN(1000))
	})
	table("has.csv", "item,tag", 6000, func(int) string { return fmt.Sprintf("i%d,t%d", r.IntN(items), skewed(tags)) })
	table("links.csv", "source,target,liked,time", 700, func(int) string {
		return fmt.Sprintf("u%d,i%d,%d,%d", r.IntN(users), r.IntN(items), r.IntN(2), r.IntN(1000))
	})
	yaml := `nodes:
  user: {table: user.csv}
  item: {table: item.csv}
  tag: {table: tag.csv}
edges:
  user:z_rates:item: {table: rates.csv, src: user, dst: item, columns: {stars: float32, time: int64}}
  user:knows:user: {table: knows.csv, src: a, dst: b, columns: {time: int64}}
  item:has:tag: {table: has.csv, src: item, dst: tag}
`
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "shop.store")
	st, err := graphmill.Import(t.Context(), dir, store, option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return store
}

// plan writes a plan file: a typed graph in several hops, ops that start from several others, and strategies by columns.
func plan(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.json")
	text := `{"seed_type": "user", "scope": "batch", "expand": "all", "ops": [
	 {"from": [0], "edges": "user:knows:user", "dir": "out", "take": 4, "how": "uniform"},
	 {"from": [0, 1], "edges": "user:z_rates:item", "dir": "out", "take": 3, "how": "weighted", "column": "stars"},
	 {"from": [2], "edges": "item:has:tag", "dir": "out", "take": -1, "how": "uniform"},
	 {"from": [2], "edges": "user:z_rates:item", "dir": "in", "take": 2, "how": "top", "column": "time"},
	 {"from": [0, 4], "edges": "user:knows:user", "dir": "in", "take": 2, "how": "replace"}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// cases are the flags of sample over the shop, by name. Each covers something that the engine could get wrong.
func cases(t testing.TB, store string) map[string][]string {
	links := filepath.Join(filepath.Dir(store), "links.csv")
	return map[string][]string{
		"typed records": {"--seeds", "user", "--direction", "out", "--fanout", "5,3,2", "--scope", "seed", "--format", "tfrecord", "--shards", "3", "--ids", "all"},
		"collection":    {"--seeds", "user", "--direction", "out", "--fanout", "5,3", "--batch-size", "100", "--shuffle", "--epochs", "2", "--ops"},
		"epoch scope":   {"--seeds", "item", "--fanout", "4,4", "--scope", "epoch", "--batch-size", "64", "--no-edge-ids"},
		"replace":       {"--seeds", "user", "--direction", "out", "--fanout", "3,3", "--replace", "--expand", "all"},
		"plan":          {"--plan", plan(t), "--batch-size", "50", "--limit-seeds", "1000"},
		"before":        {"--seeds", "user", "--seed-time", "born", "--fanout", "user:knows:user=4,4", "--before", "time<=", "--scope", "seed", "--format", "tfrecord"},
		"links":         {"--seeds", links, "--seed-type", "user,item", "--fanout", "3,2", "--scope", "seed", "--format", "tfrecord", "--gzip"},
		"ranks":         {"--seeds", "user", "--fanout", "4,2", "--scope", "seed", "--rank", "1/3", "--batch-size", "70"},
		"components":    {"--seeds", "user:age=30", "--direction", "out", "--fanout", "4,2", "--scope", "seed", "--format", "tfrecord", "--components", "4", "--seed-ids"},
		"tfgnn":         {"--seeds", "user", "--direction", "out", "--fanout", "4,2", "--scope", "seed", "--format", "tfrecord", "--compat", "tfgnn"},
		"one hop":       {"--seeds", "user", "--direction", "out", "--fanout", "7", "--scope", "seed"},
		"no hop":        {"--seeds", "user", "--fanout", "0", "--scope", "seed"},
		"few seeds":     {"--seeds", "user", "--fanout", "5,3", "--limit-seeds", "1"},
		"many small":    {"--seeds", "user", "--fanout", "2,2", "--batch-size", "1", "--limit-seeds", "300"},
	}
}

// names is the names of the cases, in order.
func names(all map[string][]string) []string {
	var list []string
	for name := range all {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// runHere runs the command in this process.
func runHere(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = runCommand(append([]string{"graphmill-beam"}, args...), nil, &out, &errs)
	return out.String(), errs.String(), status
}

// manifest is the names, sizes and checksums of the files of an output.
func manifest(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyOutput fails where anything but the given names is in a folder.
func onlyOutput(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("found %s, expected nothing but %q", e.Name(), want)
		}
	}
}

// joined is the folder with the arrays of a store as one file each, of which some have shards.
func joined(t *testing.T, store string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "joined.store")
	if _, err := graphmill.Join(t.Context(), store, out, option.Run{}); err != nil {
		t.Fatal(err)
	}
	return out
}
