package graphmill_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// trades imports edges between accounts whose times are not in the order of the rows, and an edge type without times.
func trades(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 8))
	var rows strings.Builder
	rows.WriteString("src,dst,time,amount,split\n")
	for range 700 {
		fmt.Fprintf(&rows, "a%d,a%d,%d,%d,%s\n", r.IntN(60), r.IntN(60), r.IntN(300)-150, r.IntN(9), []string{"train", "test"}[r.IntN(2)])
	}
	for name, text := range map[string]string{
		"trade.csv": rows.String(), "owns.csv": "src,dst\na1,a2\n",
		"graph.yaml": "nodes: {account: {}}\nedges:\n  account:trades:account: {table: trade.csv, columns: {time: int64, amount: float32, split: string}}\n  account:owns:account: {table: owns.csv}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "trades.store")
	s, err := graphmill.Import(t.Context(), dir, out, option.Import{Build: option.Build{Run: option.Run{NoReport: true}}})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

func longs(b *graphmill.Batch, name string) []int64 {
	c := b.Column(name)
	if c == nil {
		return nil
	}
	return slices.Clone(graph.View[int64](c.Values))
}

// The store confirms each event of a batch: the edge with this e_id has the same ends and the same time. A neighbour is the other end of an earlier event. Batches do not depend on
// the number of threads, and the ranks together have all of them.
func TestEvents(t *testing.T) {
	dir := trades(t)
	s, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	raw, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	edges := raw.Graph.Edges[slices.IndexFunc(raw.Graph.Edges, func(e *graph.Edges) bool { return e.Type.Rel == "trades" })]
	times := graph.View[int64](graph.FindColumn(edges.Columns, "time").Values)
	byPosition := make([]int, edges.Count)
	for id, at := range graph.View[uint32](graph.FindColumn(edges.Columns, graph.PositionColumn).Values) {
		byPosition[at] = id
	}
	all := func(o option.Events) (text []string) {
		o.Neighbors, o.Negatives, o.BatchSize, o.Seed = 3, 2, 64, 9
		o.EdgeFeatures = []string{"amount"}
		l, err := graphmill.NewEventLoader(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		seen, ids := map[int64]int64{}, map[int64]int64{} // of events: their e_id
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			var whole strings.Builder
			for _, c := range b.Columns() {
				fmt.Fprintln(&whole, b.Epoch, b.Number, c.Name, c.Rows, c.Values)
			}
			text = append(text, whole.String())
			src, dst, at, event, id := longs(b, "src"), longs(b, "dst"), longs(b, "t"), longs(b, "event"), longs(b, "events/account:trades:account/e_id")
			for i := range src {
				edge := byPosition[id[i]]
				if a, c := edges.Ends(edge); int64(a) != src[i] || int64(c) != dst[i] || times[edge] != at[i] {
					t.Fatalf("batch %d: found event %d from %d to %d at %d, expected the ends and the time of edge %d", b.Number, i, src[i], dst[i], at[i], edge)
				}
				seen[event[i]], ids[event[i]] = at[i], id[i]
			}
			index, by, nodes := longs(b, "edge_index"), longs(b, "neighbor/event"), longs(b, "n_id")
			roots := slices.Concat(longs(b, "src_index"), longs(b, "dst_index"), longs(b, "neg_index"))
			for k, e := range by {
				root := index[len(by)+k]
				moment := at[int(root)%len(src)]
				if int(root) >= 2*len(src) {
					moment = at[(int(root)-2*len(src))/2]
				}
				when, known := seen[e]
				if !known || o.Ranks > 1 || o.Events != nil {
					continue
				}
				a, c := edges.Ends(byPosition[ids[e]])
				node, far := nodes[roots[root]], nodes[index[k]]
				if when >= moment || (int64(a) != node || int64(c) != far) && (int64(c) != node || int64(a) != far) {
					t.Fatalf("batch %d: found the neighbour %d of %d by an event between %d and %d at %d, expected one before %d", b.Number, far, node, a, c, when, moment)
				}
			}
		}
		return text
	}
	one := all(option.Events{Epochs: 2})
	if len(one) != 22 {
		t.Fatalf("found %d batches, expected 22", len(one))
	}
	if many := all(option.Events{Epochs: 2, Run: option.Run{Threads: 3}}); !slices.Equal(one, many) {
		t.Error("found other batches with three threads")
	}
	ranks := make([]string, 11)
	for rank := range 3 {
		for i, text := range all(option.Events{Rank: rank, Ranks: 3}) {
			ranks[rank+3*i] = text
		}
	}
	if !slices.Equal(ranks, one[:11]) {
		t.Error("found other batches by three ranks")
	}
	if some := all(option.Events{Events: []string{"split=test"}}); len(some) < 4 || len(some) > 7 {
		t.Errorf("found %d batches of test, expected about half of 11", len(some))
	}
}

// What no batches can be made of is refused with the names of fields.
func TestEventsRefused(t *testing.T) {
	s, err := graphmill.Open(trades(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, c := range []struct {
		o    option.Events
		want string
	}{
		{option.Events{Types: []string{"owns"}}, "no column of times"},
		{option.Events{Time: "split"}, "string rows"},
		{option.Events{Time: "when"}, `found no column "when"`},
		{option.Events{Events: []string{"owns:x=1"}}, "`Events`"},
		{option.Events{Events: []string{"kind=1"}}, "`Events` kind=1"},
		{option.Events{BatchSize: -1}, "`BatchSize` -1"},
		{option.Events{Every: "1d"}, "plain numbers"},
		{option.Events{Every: "3", BatchSize: 3}, "one of them"},
		{option.Events{Every: "3", DropLast: true}, "`DropLast` with `Every`"},
		{option.Events{History: "none"}, "`History`"},
		{option.Events{Neighbors: -1}, "`Neighbors` -1"},
		{option.Events{Negatives: 1 << 20}, "`Negatives`"},
		{option.Events{Rank: 2, Ranks: 2}, "`Rank` 2 of 2"},
		{option.Events{NegativesFrom: "column"}, "expected an .npy file"},
		{option.Events{Run: option.Run{Memory: 1 << 20}}, "`Memory` 1.00 MiB, expected at least"},
		{option.Events{Columns: option.Columns{EdgeFeatures: []string{"price"}}}, `found no column "price"`},
	} {
		if _, err := graphmill.NewEventLoader(context.Background(), s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}
