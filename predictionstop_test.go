package graphmill_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	sizes "github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/option"
)

// stall is a store of users and items, some of which they bought and liked, by time of training or test.
type stall struct {
	dir          string
	users, items int
	links        map[string][][3]int // by relation: user, item, and whether it is of the training
}

// makeStall makes a store whose edges have a primary direction, or both.
func makeStall(t *testing.T, users, items, links int, o option.Import) *stall {
	t.Helper()
	s := &stall{users: users, items: items, links: map[string][][3]int{}}
	files := map[string]string{"graph.yaml": "nodes:\n  user: {table: user.csv, id: {column: id, dtype: string}}\n  item: {table: item.csv, id: {column: id, dtype: string}}\n" +
		"edges:\n  user:buys:item: {table: buys.csv, columns: {split: category, good: bool}}\n  user:likes:item: {table: likes.csv, columns: {split: category, good: bool}}\n  user:knows:user: {table: knows.csv}\n"}
	for name, n := range map[string]int{"user": users, "item": items} {
		var ids strings.Builder
		ids.WriteString("id\n")
		for i := range n {
			fmt.Fprintf(&ids, "%c%d\n", name[0], i)
		}
		files[name+".csv"] = ids.String()
	}
	for k, relation := range []string{"buys", "likes"} {
		var rows strings.Builder
		rows.WriteString("src,dst,split,good\n")
		for i := range links {
			u, v, train := (i*i+k)%users, (i*7+i/3)%items, i/5%2
			s.links[relation] = append(s.links[relation], [3]int{u, v, train})
			fmt.Fprintf(&rows, "u%d,i%d,%s,%t\n", u, v, []string{"test", "train"}[train], train == 1)
		}
		files[relation+".csv"] = rows.String()
	}
	files["knows.csv"] = "src,dst\nu0,u1\n"
	s.dir = filepath.Join(t.TempDir(), "g.store")
	importTables(t, writeTables(t, files), s.dir, o)
	return s
}

// knownTests are values of Known, and whether a link is among them.
var knownTests = []struct {
	texts []string
	of    func(relation string, train bool) bool
}{
	{nil, func(string, bool) bool { return false }},
	{[]string{"buys"}, func(relation string, _ bool) bool { return relation == "buys" }},
	{[]string{"user:buys:item:split=train", "likes"}, func(relation string, train bool) bool { return relation == "likes" || train }},
	{[]string{"likes:good=true", "buys:split=train", "buys:split=test"}, func(relation string, train bool) bool { return relation == "buys" || train }},
	{[]string{"buys:split=test", "buys"}, func(relation string, _ bool) bool { return relation == "buys" }},
}

// topOf is the definition: all items of each source that are not left out, by falling score and then by number.
func topOf(s *stall, score func(u, v int) float64, k int, known func(relation string, train bool) bool) [][]string {
	rows := [][]string{{"source", "target", "rank", "score"}}
	for u := range s.users {
		out := map[int]bool{}
		for relation, links := range s.links {
			for _, l := range links {
				if l[0] == u && known(relation, l[2] == 1) {
					out[l[1]] = true
				}
			}
		}
		var items []int
		for v := range s.items {
			if !out[v] {
				items = append(items, v)
			}
		}
		slices.SortStableFunc(items, func(a, b int) int {
			switch x, y := score(u, a), score(u, b); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return a - b
		})
		for rank, v := range items[:min(k, len(items))] {
			rows = append(rows, []string{"u" + strconv.Itoa(u), "i" + strconv.Itoa(v), strconv.Itoa(rank + 1), strconv.FormatFloat(score(u, v), 'g', -1, 64)})
		}
	}
	return rows
}

// The table of the best targets equals the first rows of a sort of all scores, for any numbers, known links, threads, blocks and bounds of memory.
func TestTopOfEmbeddings(t *testing.T) {
	shops := []*stall{makeStall(t, 23, 17, 90, option.Import{}), makeStall(t, 5, 40, 60, option.Import{Primary: option.DirectionOut}), makeStall(t, 12, 9, 70, option.Import{Build: option.Build{Both: true}})}
	work, before := t.TempDir(), sizes.ProductBytes
	t.Cleanup(func() { sizes.ProductBytes = before })
	rapid.Check(t, func(r *rapid.T) {
		s, d, k := shops[rapid.IntRange(0, 2).Draw(r, "shop")], rapid.SampledFrom([]int{0, 1, 3, 8, 20, 150}).Draw(r, "d"), rapid.IntRange(1, 50).Draw(r, "k")
		test := knownTests[rapid.IntRange(0, len(knownTests)-1).Draw(r, "known")]
		// Small integers have equal sums in any order, and many equal scores.
		numbers := func(n int, label string) []int8 {
			return rapid.SliceOfN(rapid.Int8Range(-2, 2), n*d, n*d).Draw(r, label)
		}
		a, b := numbers(s.users, "sources"), numbers(s.items, "targets")
		score := func(u, v int) (sum float64) {
			for i := range d {
				sum += float64(a[u*d+i]) * float64(b[v*d+i])
			}
			return sum
		}
		want := topOf(s, score, k, test.of)
		save := func(name string, values []int8, n int) string {
			switch rapid.IntRange(0, 3).Draw(r, "dtype") {
			case 0:
				return writeNpy(t, work, name, "i1", []int{n, d}, graph.Bytes(values))
			case 1:
				wide := make([]float64, len(values))
				for i, v := range values {
					wide[i] = float64(v)
				}
				return writeNpy(t, work, name, "f8", []int{n, d}, graph.Bytes(wide))
			case 2:
				half := make([]uint16, len(values))
				for i, v := range values {
					half[i] = []uint16{0xc000, 0xbc00, 0, 0x3c00, 0x4000}[v+2]
				}
				return writeNpy(t, work, name, "f2", []int{n, d}, graph.Bytes(half))
			}
			single := make([]float32, len(values))
			for i, v := range values {
				single[i] = float32(v)
			}
			return writeNpy(t, work, name, "f4", []int{n, d}, graph.Bytes(single))
		}
		o := option.Predictions{Type: rapid.SampledFrom([]string{"user:item", "buys"}).Draw(r, "type"), Top: k, SourceEmbeddings: save("a.npy", a, s.users), TargetEmbeddings: save("b.npy", b, s.items), Known: test.texts}
		o.Run = option.Run{Threads: rapid.IntRange(1, 3).Draw(r, "threads")}
		o.Overwrite = true
		if rapid.Bool().Draw(r, "bounded") {
			o.Memory = 256 << 20
		}
		sizes.ProductBytes = int64(rapid.SampledFrom([]int{1, 64, 1000, 4 << 20}).Draw(r, "block"))
		if _, err := graphmill.ExportPredictions(t.Context(), s.dir, filepath.Join(work, "top.csv"), o); err != nil {
			r.Fatal(err)
		}
		if d := diff.Diff(want, csvText(t, filepath.Join(work, "top.csv"))); d != "" {
			r.Error(d)
		}
	})
}

// A node is not among its own targets; cosines are divided by the lengths; the other formats have the same rows.
func TestTopOfOneType(t *testing.T) {
	s, work := makeStall(t, 4, 3, 8, option.Import{}), t.TempDir()
	a := writeNpy(t, work, "a.npy", "f8", []int{4, 2}, graph.Bytes([]float64{3, 4, 6, 8, 0, 0, -3, 4}))
	o := option.Predictions{Type: "user:user", Top: 2, SourceEmbeddings: a, TargetEmbeddings: a, Similarity: "cosine", Known: []string{"knows"}}
	want := [][]string{{"u0", "u3", "1", "0.28"}, {"u0", "u2", "2", "0"}, {"u1", "u0", "1", "1"}, {"u1", "u3", "2", "0.28"}, {"u2", "u0", "1", "0"}, {"u2", "u1", "2", "0"}, {"u3", "u0", "1", "0.28"}, {"u3", "u1", "2", "0.28"}}
	for _, name := range []string{"p.csv", "p.parquet", "p.arrow", "p.db"} {
		o.Table = ""
		if name == "p.db" {
			o.Table = "top"
		}
		if _, err := graphmill.ExportPredictions(t.Context(), s.dir, filepath.Join(work, name), o); err != nil {
			t.Fatal(err)
		}
		if name == "p.db" { // a table that is there is refused before the work
			if _, err := graphmill.ExportPredictions(t.Context(), s.dir, filepath.Join(work, name), o); !errors.Is(err, graphmill.ErrExists) {
				t.Errorf("found %v, expected ErrExists", err)
			}
		}
	}
	rows, names := parquetText(t, work+"/p.parquet")
	same, _ := arrowText(t, work+"/p.arrow")
	if d := diff.Diff(want, csvText(t, work+"/p.csv")[1:]) + diff.Diff(want, rows) + diff.Diff(rows, same); d != "" {
		t.Errorf("%v: %s", names, d)
	}
	if found := sqliteRows(t, work+"/p.db", "SELECT group_concat(source || target || rank, ' ') FROM top"); !strings.Contains(found, "u0u31 u0u22 u1u01") {
		t.Errorf("found %q", found)
	}
}

// What cannot be scored is refused before anything is written.
func TestTopRefused(t *testing.T) {
	s, work := makeStall(t, 4, 3, 8, option.Import{}), t.TempDir()
	file := func(name string, shape []int, values ...float32) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return writeNpy(t, work, name, "f4", shape, graph.Bytes(append(values, make([]float32, n-len(values))...)))
	}
	a, b := file("a.npy", []int{4, 2}), file("b.npy", []int{3, 2})
	nan, inf := file("nan.npy", []int{4, 2}, 1, 2, 3, float32(math.NaN())), file("inf.npy", []int{4, 2}, 1, 2, 3, 4, float32(math.Inf(-1)))
	big := file("big.npy", []int{4, 2}, 3e38)
	huge := writeNpy(t, work, "huge.npy", "f8", []int{3, 2}, graph.Bytes([]float64{1e250, 0, 0, 0, 0, 0}))
	score := file("score.npy", []int{4})
	base := option.Predictions{Type: "user:item", Top: 2, SourceEmbeddings: a, TargetEmbeddings: b}
	with := func(change func(o *option.Predictions)) option.Predictions {
		o := base
		change(&o)
		return o
	}
	before, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    option.Predictions
		want string
	}{
		"shape":     {with(func(o *option.Predictions) { o.SourceEmbeddings = b }), "b.npy: found shape [3 2], expected [4, d], a row per node of user"},
		"one value": {with(func(o *option.Predictions) { o.SourceEmbeddings = score }), "score.npy: found shape [4], expected [4, d]"},
		"width":     {with(func(o *option.Predictions) { o.TargetEmbeddings = file("c.npy", []int{3, 5}) }), "c.npy: found rows of 5 numbers, expected 2, as in"},
		"nan":       {with(func(o *option.Predictions) { o.SourceEmbeddings = nan }), "nan.npy: row 1: found NaN, expected finite numbers"},
		"infinite":  {with(func(o *option.Predictions) { o.SourceEmbeddings = inf }), "inf.npy: row 2: found -Inf, expected finite numbers"},
		"range": {with(func(o *option.Predictions) {
			o.SourceEmbeddings, o.TargetEmbeddings = big, file("big3.npy", []int{3, 2}, 3e38)
		}), "found a product of source row 0 and target row 0 beyond the range of float32"},
		"range of all": {with(func(o *option.Predictions) { o.TargetEmbeddings, o.SourceEmbeddings = huge, big }), "leave the range of float64"},
		"none":         {with(func(o *option.Predictions) { o.TargetEmbeddings = "" }), "found `Top` without `SourceEmbeddings` and `TargetEmbeddings`"},
		"no file":      {with(func(o *option.Predictions) { o.TargetEmbeddings = work + "/none.npy" }), "none.npy: no such file"},
		"no top":       {with(func(o *option.Predictions) { o.Top = 0 }), "without `Top`, expected how many"},
		"negative":     {with(func(o *option.Predictions) { o.Top = -1 }), "found `Top` -1, expected at least 1"},
		"nodes":        {with(func(o *option.Predictions) { o.Type = "user" }), "found `Type` user with `Top`, expected the node types of sources and targets"},
		"type":         {with(func(o *option.Predictions) { o.Type = "user:itm" }), "user:itm"},
		"array":        {with(func(o *option.Predictions) { o.Arrays = []string{"score=" + score} }), "found `Arrays` with `Top`"},
		"rows":         {with(func(o *option.Predictions) { o.Rows = "split=test" }), "found `Rows` with `Top`"},
		"similarity":   {with(func(o *option.Predictions) { o.Similarity = "l2" }), "found `Similarity` \"l2\", expected dot or cosine"},
		"known":        {with(func(o *option.Predictions) { o.Known = []string{"bought"} }), "`Known`: found edge type \"bought\""},
		"known ends":   {with(func(o *option.Predictions) { o.Known = []string{"knows"} }), "`Known`: found user:knows:user, whose edges lead from user to user, expected an edge type from user to item"},
		"known column": {with(func(o *option.Predictions) { o.Known = []string{"buys:fold=1"} }), "`Known`: found column \"fold\""},
		"known value":  {with(func(o *option.Predictions) { o.Known = []string{"buys:split=tran"} }), "`Known`: "},
		"condition":    {with(func(o *option.Predictions) { o.Known = []string{"split=train"} }), "found `Known` \"split=train\", expected the edge type before the condition, as in TYPE:split=train"},
		"memory":       {with(func(o *option.Predictions) { o.Memory = 30 << 20 }), "found `Memory` 30.0 MiB, expected at least"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := graphmill.ExportPredictions(t.Context(), s.dir, filepath.Join(work, "x.parquet"), c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found error %v, expected %q", err, c.want)
			}
		})
	}
	after, err := os.ReadDir(work)
	if err != nil || len(after) != len(before)+2 { // c.npy and big3.npy
		t.Errorf("found %v, %v, expected nothing new", after, err)
	}
}

// Whichever call of the file system fails, and wherever the context ends, nothing is left but a whole file.
func TestTopFaults(t *testing.T) {
	s, work := makeStall(t, 40, 30, 200, option.Import{}), t.TempDir()
	a := writeNpy(t, work, "a.npy", "f4", []int{40, 2}, make([]byte, 40*8))
	b := writeNpy(t, work, "b.npy", "f4", []int{30, 2}, make([]byte, 30*8))
	o := option.Predictions{Run: option.Run{Threads: 2}, Type: "user:item", Top: 7, SourceEmbeddings: a, TargetEmbeddings: b, Known: []string{"buys"}}
	failPredictions(t, s.dir, "p.csv", o)
}
