package transform

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// stringColumn is a column of strings.
func stringColumn(name string, values []string) *graph.Column {
	ends := []uint64{0}
	for _, v := range values {
		ends = append(ends, ends[len(ends)-1]+uint64(len(v)))
	}
	return &graph.Column{Name: name, DType: graph.String, Rows: len(values), Values: []byte(strings.Join(values, "")), StringOffsets: graph.Index{U64: ends}}
}

func boolColumn(name string, shape []int, values ...bool) *graph.Column {
	c := &graph.Column{Name: name, DType: graph.Bool, Shape: shape}
	for _, v := range values {
		c.Values = append(c.Values, map[bool]byte{true: 1}[v])
	}
	if c.Rows = len(values); len(shape) > 0 {
		c.Rows /= shape[0]
	}
	return c
}

// drawClasses draws a text for each row, of which some are missing.
func drawClasses(rt *rapid.T, rows int) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "b", "c", "c", "c", "d", ""}), rows, rows).Draw(rt, "classes")
}

// orderOf is the order in which a random split takes the rows of a node type.
func orderOf(rows int, seed uint64, typ string) []uint64 {
	order := make([]uint64, rows)
	draw.NewOrder(uint64(rows), draw.Key(seed, splitWord, word(typ))).Fill(order, 0)
	return order
}

// rowsOfClass lists the rows of each class, in the order of the draws.
func rowsOfClass(values []string, seed uint64) (names []string, rows map[string][]int) {
	rows = map[string][]int{}
	for _, row := range orderOf(len(values), seed, "user") {
		if v := values[row]; v != "" {
			rows[v] = append(rows[v], int(row))
		}
	}
	for name := range rows {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, rows
}

// partsOfRows counts the rows of a class in each part.
func partsOfRows(rows []int, parts []int8) (out counts) {
	for _, row := range rows {
		out[(int(parts[row])+4)%4]++
	}
	return out
}

// TestStratified compares a stratified split with its law: the parts have the sizes of a split of all rows with a class, each class has its share in each part, rounded
// down or up, and the rows of a class are taken in the order of the draws.
func TestStratified(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := drawClasses(rt, rapid.IntRange(1, 120).Draw(rt, "rows"))
		s := Split{Ratios: drawRatios(rt), Stratify: "label"}
		seed := rapid.Uint64Range(0, 3).Draw(rt, "seed")
		names, rows := rowsOfClass(values, seed)
		some, labelled, least := 0, 0, math.MaxInt
		for _, x := range s.Ratios {
			some += map[bool]int{true: 1}[x > 0]
		}
		for _, name := range names {
			labelled += len(rows[name])
			least = min(least, len(rows[name]))
		}
		x, err := New(context.Background(), users(stringColumn("label", values)), Options{Seed: seed, Splits: []Split{s}})
		bad := len(names) == 0 || least < some
		for p, n := range s.sizes(labelled) {
			bad = bad || n == 0 && p < numParts && s.Ratios[p] > 0
		}
		if bad || err != nil {
			if !bad || err == nil {
				rt.Fatalf("found %v for the classes %v, expected an error: %v", err, values, bad)
			}
			return
		}
		parts := x.nodes[0].splits[0].parts
		var have counts
		for _, name := range names {
			n := partsOfRows(rows[name], parts)
			for p := range n {
				have[p] += n[p]
				if want := share(len(rows[name]), s.Ratios, p); float64(n[p]) <= want-1 || float64(n[p]) >= want+1 {
					rt.Fatalf("class %s: found %v of %d rows by %v", name, n, len(rows[name]), s.Ratios)
				}
			}
			if !slices.IsSortedFunc(rows[name], func(a, b int) int { return cmp.Compare(uint8(parts[a]), uint8(parts[b])) }) {
				rt.Fatalf("class %s: found parts that do not follow the order of the draws", name)
			}
		}
		if want := s.sizes(labelled); have != want {
			rt.Fatalf("found the sizes %v, expected %v", have, want)
		}
		for row, v := range values {
			if v == "" && parts[row] != -1 {
				rt.Fatalf("row %d without a class is in part %d", row, parts[row])
			}
		}
	})
}

// TestPerClass compares a number of rows per class with its law.
func TestPerClass(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := drawClasses(rt, rapid.IntRange(1, 100).Draw(rt, "rows"))
		s := Split{Stratify: "label", PerClass: rapid.IntRange(1, 4).Draw(rt, "per class"), ValidRows: rapid.IntRange(0, 5).Draw(rt, "valid"), TestRows: rapid.IntRange(0, 5).Draw(rt, "test")}
		names, rows := rowsOfClass(values, 1)
		want := make([]int8, len(values))
		for i := range want {
			want[i] = -1
		}
		ok, left := len(names) > 0, 0
		for _, name := range names {
			ok = ok && len(rows[name]) >= s.PerClass
			left += len(rows[name]) - s.PerClass
			for i := range min(s.PerClass, len(rows[name])) {
				want[rows[name][i]] = 0
			}
		}
		ok = ok && left >= s.ValidRows+s.TestRows
		k := 0
		for _, row := range orderOf(len(values), 1, "user") {
			if values[row] == "" || want[row] == 0 {
				continue
			}
			switch {
			case k < s.ValidRows:
				want[row] = 1
			case s.TestRows == 0 || k < s.ValidRows+s.TestRows:
				want[row] = 2
			}
			k++
		}
		x, err := New(context.Background(), users(stringColumn("label", values)), Options{Seed: 1, Splits: []Split{s}})
		switch {
		case ok != (err == nil) && !(s.TestRows == 0 && left == s.ValidRows): // no row is left for test
			rt.Fatalf("%+v of %v: found %v, expected success: %v", s, values, err, ok)
		case err == nil:
			if diff := gocmp.Diff(want, x.nodes[0].splits[0].parts); diff != "" {
				rt.Fatalf("%+v of %v: %s", s, values, diff)
			}
		}
	})
}

// TestFolds compares folds, plain and stratified, with their law: rows are dealt to the folds in turn, in the order of the draws, class by class.
func TestFolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := drawClasses(rt, rapid.IntRange(1, 60).Draw(rt, "rows"))
		s := Split{Folds: rapid.IntRange(2, 6).Draw(rt, "folds"), Stratify: rapid.SampledFrom([]string{"", "label"}).Draw(rt, "stratify")}
		s.ValidFolds = rapid.IntRange(0, s.Folds-2).Draw(rt, "valid")
		names, rows := rowsOfClass(values, 0)
		fold := make([]int, len(values))
		for i := range fold {
			fold[i] = -1
		}
		ok, k := true, 0
		if s.Stratify == "" {
			for i, row := range orderOf(len(values), 0, "user") {
				fold[row] = i % s.Folds
			}
		} else {
			ok = len(names) > 0
			for _, name := range names {
				ok = ok && len(rows[name]) >= s.Folds
				for _, row := range rows[name] {
					fold[row] = k % s.Folds
					k++
				}
			}
		}
		x, err := New(context.Background(), users(stringColumn("label", values)), Options{Splits: []Split{s}})
		if ok != (err == nil) {
			rt.Fatalf("%+v of %v: found %v, expected success: %v", s, values, err, ok)
		}
		if err != nil {
			return
		}
		if n := len(x.nodes[0].splits); n != s.Folds {
			rt.Fatalf("found %d columns, expected %d", n, s.Folds)
		}
		for i, a := range x.nodes[0].splits {
			if a.name != fmt.Sprintf("split_%d", i) {
				rt.Fatalf("found column %s, expected split_%d", a.name, i)
			}
			for row, f := range fold {
				want := int8(0)
				switch after := (f - i + s.Folds) % s.Folds; {
				case f < 0:
					want = -1
				case after == 0:
					want = 2
				case after <= s.ValidFolds:
					want = 1
				}
				if got := a.at(row); got != want {
					rt.Fatalf("row %d of fold %d: found part %d in %s, expected %d", row, f, got, a.name, want)
				}
			}
		}
	})
}

// TestGroups checks the law of groups: each is in one part, and a part is short by less than the smallest group, or has at most half a group too many. The part with the
// most rows takes what is left, so it is off by as much as the others together.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-2, rapid.Int64Range(3, 60).Draw(rt, "most")), 1, 120).Draw(rt, "groups")
		s := Split{Ratios: drawRatios(rt), Group: "g"}
		sizes := map[int64]int{}
		for _, v := range values {
			sizes[v]++
		}
		x, err := New(context.Background(), users(column("g", graph.Int64, values)), Options{Splits: []Split{s}})
		some := 0
		for _, r := range s.Ratios {
			some += map[bool]int{true: 1}[r > 0]
		}
		if err != nil {
			if len(sizes) > 2*some { // a few groups may not do for all parts
				rt.Fatalf("%v of %v: found %v", s.Ratios, values, err)
			}
			return
		}
		parts := x.nodes[0].splits[0].parts
		of, have := map[int64]int8{}, counts{}
		for row, v := range values {
			if p, seen := of[v]; seen && p != parts[row] {
				rt.Fatalf("group %d is in the parts %d and %d", v, p, parts[row])
			}
			of[v] = parts[row]
			have[(int(parts[row])+4)%4]++
		}
		want := s.sizes(len(values))
		last := 0
		for p, n := range want {
			if n >= want[last] && (p == numParts || s.Ratios[p] > 0) {
				last = p
			}
		}
		for p := range want {
			if p < numParts && s.Ratios[p] > 0 && have[p] == 0 {
				rt.Fatalf("part %d has no row of %v by %v", p, values, s.Ratios)
			}
			if p == last {
				continue
			}
			// The groups that were left when the part was filled are those of later parts.
			smallest := math.MaxInt
			for g, q := range of {
				if later := (int(q) + 4) % 4; later != p && (want[later] > want[p] || want[later] == want[p] && later > p) {
					smallest = min(smallest, sizes[g])
				}
			}
			largest, groups := 0, 0
			for g, q := range of {
				if (int(q)+4)%4 == p {
					largest = max(largest, sizes[g])
					groups++
				}
			}
			if short := want[p] - have[p]; smallest < math.MaxInt && short >= smallest {
				rt.Fatalf("part %d of %v by %v has %d rows too few, and a group of %d was left", p, sizes, s.Ratios, short, smallest)
			}
			if over := have[p] - want[p]; over > 0 && groups > 1 && 2*over >= largest {
				rt.Fatalf("part %d of %v by %v has %d rows too many, half its largest group of %d or more", p, sizes, s.Ratios, over, largest)
			}
		}
	})
}

// TestGroupFolds compares folds of groups with the law of scikit-learn's GroupKFold: the largest group goes to the fold with the fewest rows.
func TestGroupFolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 12), 1, 80).Draw(rt, "groups")
		s := Split{Folds: rapid.IntRange(2, 5).Draw(rt, "folds"), Group: "g"}
		of := map[int64]int{}
		for _, v := range values {
			of[v]++
		}
		var sizes []int
		for _, n := range of {
			sizes = append(sizes, n)
		}
		slices.Sort(sizes)
		slices.Reverse(sizes)
		want := make([]int, s.Folds)
		for _, n := range sizes {
			least := 0
			for f := range want {
				if want[f] < want[least] {
					least = f
				}
			}
			want[least] += n
		}
		x, err := New(context.Background(), users(column("g", graph.Int64, values)), Options{Splits: []Split{s}})
		if (err == nil) != (len(of) >= s.Folds) {
			rt.Fatalf("%v: found %v, expected success: %v", values, err, len(of) >= s.Folds)
		}
		if err != nil {
			return
		}
		have, fold := make([]int, s.Folds), map[int64]int8{}
		for row, f := range x.nodes[0].splits[0].parts {
			have[f]++
			if before, seen := fold[values[row]]; seen && before != f {
				rt.Fatalf("group %d is in the folds %d and %d", values[row], before, f)
			}
			fold[values[row]] = f
		}
		if diff := gocmp.Diff(want, have); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestMasks checks masks, and masks of vectors, which give a split for each of their values.
func TestMasks(t *testing.T) {
	g := users(boolColumn("a", nil, true, false, false), boolColumn("b", nil, false, false, true),
		boolColumn("c", []int{2}, true, false, false, true, false, false), boolColumn("d", []int{2}, false, true, false, false, true, false), boolColumn("e", nil, true, false, true), boolColumn("f", nil, false, false, false))
	for _, c := range []struct {
		masks []string
		want  map[string][]int8
		err   string
	}{
		{[]string{"a", "", "b"}, map[string][]int8{"split": {0, -1, 2}}, ""},
		{[]string{"c", "", "d"}, map[string][]int8{"split_0": {0, -1, 2}, "split_1": {2, 0, -1}}, ""},
		{[]string{"a", "e", ""}, nil, "user: row 0: found true in the masks a and e, expected a row in one part"},
		{[]string{"a", "f", ""}, nil, "split of user: found no row in the mask f of the part valid"},
		{[]string{"a", "d", ""}, nil, "found masks of the shapes [] and [2], expected equal ones"},
		{[]string{"a", "x", ""}, nil, "found no column x, expected one of a, b, c"},
		{[]string{"", "a", "b"}, nil, "expected columns for train and for valid or test"},
	} {
		x, err := New(context.Background(), g, Options{Splits: []Split{{Masks: c.masks}}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: found %v, expected %q", c.masks, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]int8{}
		for _, a := range x.nodes[0].splits {
			got[a.name] = a.parts
		}
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.masks, diff)
		}
	}
}

// TestSplitWays names contradictions between the keys of a split.
func TestSplitWays(t *testing.T) {
	g := users(stringColumn("label", []string{"a", "a", "b", ""}), column("v", graph.Float32, []float32{1, 2, 3, 4}))
	some := []float64{.5, .25, .25}
	for _, c := range []struct {
		s    Split
		want string
	}{
		{Split{Ratios: some, Stratify: "label"}, `found 1 row of the class "b" of column label, expected at least 3`},
		{Split{Ratios: some, Stratify: "lable"}, "found no column lable, expected one of label, v"},
		{Split{PerClass: 1}, "found per_class without a label"},
		{Split{PerClass: 2, Stratify: "label"}, `found 1 row of the class "b" of column label, expected at least 2`},
		{Split{PerClass: 1, Stratify: "label", ValidRows: 2}, "found 1 row besides the 2 of train, expected at least 3"},
		{Split{PerClass: 1, Folds: 2}, "found per_class and folds, expected one of them"},
		{Split{Folds: 1}, "found 1 folds with 0 of them for valid"},
		{Split{Folds: 3, ValidFolds: 2}, "found 3 folds with 2 of them for valid"},
		{Split{Folds: 2, Stratify: "label", Group: "v"}, "found stratify and group"},
		{Split{Folds: 5, Group: "v"}, "found fewer groups of v than folds"},
		{Split{By: "v", Folds: 2}, "found the column v and folds"},
		{Split{By: "v", Ratios: some, Stratify: "label"}, "expected ratios or folds at random"},
		{Split{Like: "user"}, "found like for a node type"},
		{Split{ValidRows: 2, Ratios: some}, "without per_class"},
		{Split{}, "expected the one that decides, or ratios, per_class"},
	} {
		c.s.Type = "user"
		_, err := New(context.Background(), g, Options{Splits: []Split{c.s}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected %q", c.s, err, c.want)
		}
	}
	// Many values take more than the memory.
	many := make([]int64, 1000)
	for i := range many {
		many[i] = int64(i)
	}
	if _, err := New(context.Background(), users(column("v", graph.Int64, many)), Options{Memory: 10000, Splits: []Split{{Ratios: some, Group: "v"}}}); err == nil || !strings.Contains(err.Error(), "`Memory`") {
		t.Errorf("found %v, expected an error of the memory", err)
	}
	// No rows are no error.
	if _, err := New(context.Background(), users(stringColumn("label", nil)), Options{Splits: []Split{{Ratios: some, Stratify: "label"}}}); err != nil {
		t.Errorf("found %v of no rows, expected no error", err)
	}
}

// Over many seeds each row of a class is equally often in test, by chi-square, and each class always as often as its share says.
func TestStratifiedChance(t *testing.T) {
	const seeds = 2000
	var values []string
	for i := range 60 {
		values = append(values, []string{"a", "b", "b", "c", "c", "c"}[i%6])
	}
	often := make([]int, len(values))
	for seed := range uint64(seeds) {
		for row, p := range splitOf(t, users(stringColumn("label", values)), Options{Seed: seed, Splits: []Split{{Ratios: []float64{.8, .1, .1}, Stratify: "label"}}}) {
			if p == 2 {
				often[row]++
			}
		}
	}
	chi, expected, of := 0.0, seeds*.1, map[string]int{}
	for row, n := range often {
		chi += (float64(n) - expected) * (float64(n) - expected) / (expected * .9)
		of[values[row]] += n
	}
	if chi > 110 { // 57 degrees of freedom: exceeded by chance once in 10^4
		t.Errorf("found chi-square %.1f, expected at most 110", chi)
	}
	if diff := gocmp.Diff(map[string]int{"a": seeds, "b": 2 * seeds, "c": 3 * seeds}, of); diff != "" {
		t.Error(diff)
	}
}
