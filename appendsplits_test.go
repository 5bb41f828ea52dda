package graphmill_test

import (
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

// partsOf are the parts of the rows of a type, as one letter each, and '-' for none.
func partsOf(t *testing.T, dir, typ string) string {
	t.Helper()
	s, err := store.OpenMerged(vfs.OS, dir, -1)
	if err != nil {
		t.Fatal(err)
	}
	columns := [][]*graph.Column{}
	var order []uint64
	for _, n := range s.Graph.Nodes {
		if n.Type == typ {
			columns = append(columns, n.Columns)
		}
	}
	for _, e := range s.Graph.Edges {
		if e.Type.String() == typ {
			columns = append(columns, e.Columns)
			for i := range e.Count {
				order = append(order, store.PositionAt(graph.FindColumn(e.Columns, graph.PositionColumn), i))
			}
		}
	}
	c := graph.FindColumn(columns[0], "split")
	text := make([]byte, c.Rows)
	for i, code := range graph.View[int32](c.Values) {
		at := i
		if order != nil {
			at = int(order[i])
		}
		if text[at] = '-'; code >= 0 {
			text[at] = c.Categories.Text(int(code))[1] // tRain, vAlid, tEst
		}
	}
	if err := errors.Join(s.Check(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// New rows get their parts by the splits of the store, the old ones keep theirs, and it does not matter how many appends bring the rows, or whether the store is compacted between.
func TestAppendSplits(t *testing.T) {
	const tables = `nodes:
  user: {table: users.csv, id: id, columns: {joined: int64, kind: string}}
  item: {table: items.csv, id: id, columns: {}}
  shop: {table: shops.csv, id: id, columns: {kind: string, seen: float64}}
edges:
  user:buys:item: {table: buys.csv, src: user, dst: item, reverse: bought, columns: {}}
  item:gift:user: {table: buys.csv, src: gift, dst: giver, columns: {}} # other edges of the same table, without a split
  user:sees:shop: {table: sees.csv, src: user, dst: shop, columns: {at: "datetime[s]"}}
`
	const splits = `transforms:
  seed: 5
  split:
    user: {by: joined, ratios: [0.6, 0.2, 0.1]}
    item: [0.5, 0.25, 0.125]
    shop: {by: kind, train: [a, b], test: [c]}
    "user:buys:item": [0.7, 0.2, 0.1]
    "user:sees:shop": {by: at, at: ["2020-01-05", "2020-01-07"]}
`
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	type batch struct{ users, items, shops, buys, sees []string }
	var all []batch
	users, items, shops := 0, 0, 0
	for range 4 {
		var b batch
		for range 40 {
			b.users = append(b.users, fmt.Sprintf("%d,%d,k", users, 100+r.IntN(60)+20*len(all)))
			b.items = append(b.items, fmt.Sprint("i", items))
			b.shops = append(b.shops, fmt.Sprintf("s%d,%s,%d.5", shops, []string{"a", "b", "c", "d", ""}[r.IntN(5)], r.IntN(9)))
			users, items, shops = users+1, items+1, shops+1
		}
		for range 100 {
			b.buys = append(b.buys, fmt.Sprintf("%d,i%d,i%d,%d", r.IntN(users), r.IntN(items), r.IntN(items), r.IntN(users)))
			b.sees = append(b.sees, fmt.Sprintf("%d,s%d,2020-01-0%d", r.IntN(users), r.IntN(shops), 1+r.IntN(9)))
		}
		all = append(all, b)
	}
	write := func(name, yaml string, of ...batch) string {
		files := map[string]string{"users.csv": "id,joined,kind\n", "items.csv": "id\n", "shops.csv": "id,kind,seen\n", "buys.csv": "user,item,gift,giver\n", "sees.csv": "user,shop,at\n", "graph.yaml": yaml}
		for _, b := range of {
			for file, rows := range map[string][]string{"users.csv": b.users, "items.csv": b.items, "shops.csv": b.shops, "buys.csv": b.buys, "sees.csv": b.sees} {
				files[file] += strings.Join(rows, "\n") + "\n"
			}
		}
		for file, text := range files {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, name)
	}
	types := []string{"user", "item", "shop", "user:buys:item", "item:bought:user", "user:sees:shop"}
	var first, last []string
	for _, way := range []string{"one by one", "at once", "compacted"} {
		in := filepath.Join(dir, way+".store")
		s, err := graphmill.Import(t.Context(), write("base", tables+splits, all[0]), in, option.Import{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			for _, typ := range types {
				first = append(first, partsOf(t, in, typ))
			}
		}
		sources := []string{write("1", tables, all[1]), write("2", tables, all[2]), write("3", tables, all[3])}
		if way == "at once" {
			sources = []string{write("rest", tables, all[1:]...)}
		}
		for _, source := range sources {
			if _, err := graphmill.Append(t.Context(), in, source, option.Append{}); err != nil {
				t.Fatal(err)
			}
			if way == "compacted" {
				if _, err := graphmill.Compact(t.Context(), in, option.Run{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for i, typ := range types {
			got = append(got, partsOf(t, in, typ))
			if !strings.HasPrefix(got[i], first[i]) {
				t.Errorf("%s: %s: found the parts\n%s, expected those of old rows first:\n%s", way, typ, got[i], first[i])
			}
		}
		if last == nil {
			last = got
		} else if !slices.Equal(got, last) {
			t.Errorf("%s: found the parts\n%s\nexpected\n%s", way, strings.Join(got, "\n"), strings.Join(last, "\n"))
		}
	}
	if last[3] != last[4] {
		t.Errorf("found the parts\n%s of edges, and\n%s of their reverses", last[3], last[4])
	}
	byAt := func(day string) byte {
		switch {
		case day < "2020-01-05":
			return 'r'
		case day < "2020-01-07":
			return 'a'
		}
		return 'e'
	}
	row := 0
	limits := map[byte]int{'a': 1 << 30, 'e': 1 << 30, '-': 1 << 30} // the least value of each part in the base
	for i, b := range all {
		for k := range b.sees {
			cells := strings.Split(b.sees[k], ",")
			if last[5][100*i+k] != byAt(cells[2]) {
				t.Errorf("found an edge of %s in part %c", cells[2], last[5][100*i+k])
			}
		}
		for k := range b.users {
			kind := strings.Split(b.shops[k], ",")[1]
			want := map[string]byte{"a": 'r', "b": 'r', "c": 'e'}[kind]
			if want == 0 {
				want = '-'
			}
			if last[2][row] != want {
				t.Errorf("found a shop of kind %q in part %c, expected %c", kind, last[2][row], want)
			}
			var joined int
			if _, err := fmt.Sscan(strings.Split(b.users[k], ",")[1], &joined); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				limits[last[0][row]] = min(limits[last[0][row]], joined)
			} else {
				want := byte('r')
				for _, p := range []byte("ae-") {
					if joined >= limits[p] {
						want = p
					}
				}
				if last[0][row] != want {
					t.Errorf("found a user of %d in part %c, expected %c", joined, last[0][row], want)
				}
			}
			row++
		}
	}
	for i, shares := range map[int][3]float64{1: {.5, .25, .125}, 3: {.7, .2, .1}} { // the draws have about the shares
		n := float64(len(last[i]) - len(first[i]))
		for p, letter := range []string{"r", "a", "e"} {
			if share := float64(strings.Count(last[i][len(first[i]):], letter)) / n; share < shares[p]-.12 || share > shares[p]+.12 {
				t.Errorf("%s: found the share %g of part %s, expected about %g", types[i], share, letter, shares[p])
			}
		}
	}
	// The tables can say the parts, and then they count.
	said := write("said", strings.Replace(tables, "columns: {joined: int64, kind: string}", "columns: {joined: int64, kind: string, split: category}", 1))
	if err := os.WriteFile(filepath.Join(said, "users.csv"), []byte("id,joined,kind,split\n160,1,k,test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "at once.store")
	if _, err := graphmill.Append(t.Context(), in, said, option.Append{}); err != nil {
		t.Fatal(err)
	}
	if got := partsOf(t, in, "user"); got != last[0]+"e" {
		t.Errorf("found the parts %s, expected test last", got)
	}
}
