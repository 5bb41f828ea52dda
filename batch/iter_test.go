package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// columns are three columns of the given number of rows, with values that identify the row.
func columns(rows int) []*graph.Column {
	x, y, z := make([]float32, rows*16), make([]int64, rows), make([]uint8, rows*3)
	for i := range x {
		x[i] = float32(i)
	}
	for i := range y {
		y[i] = int64(i)
	}
	for i := range z {
		z[i] = uint8(i * 7)
	}
	return []*graph.Column{batch.Column("x", x, 4, 4), batch.Column("y", y), batch.Column("z", z, 3)}
}

// step is a copy of a batch.
type step struct {
	Epoch       uint64
	Number      int
	Items, Rows []uint64 // Rows: of column y, padding is ^0
	Ptr         []uint64
}

// walk takes at most limit batches of a pass, and checks each against its columns.
func walk(t *rapid.T, it *batch.Iter, src []*graph.Column, limit int) (steps []step) {
	for b, err := range it.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		s := step{Epoch: b.Epoch, Number: b.Number, Items: slices.Clone(b.Items), Ptr: slices.Clone(b.Ptr)}
		places := graph.View[int64](b.Columns[1].Values)
		for i, y := range places {
			real := b.Mask == nil || b.Mask[i]
			if real {
				s.Rows = append(s.Rows, uint64(y))
			} else {
				s.Rows = append(s.Rows, ^uint64(0))
			}
			for c, column := range b.Columns {
				w := src[c].RowBytes()
				want := make([]byte, w)
				if real {
					want = src[c].Row(int(y))
				}
				if got := column.Values[i*w : (i+1)*w]; !slices.Equal(got, want) {
					t.Fatalf("batch %d, row %d, column %s: found %v, expected %v", b.Number, i, column.Name, got, want)
				}
			}
		}
		if b.Rows != b.Columns[0].Rows || b.Columns[0].Rows*b.Columns[0].RowBytes() != len(b.Columns[0].Values) {
			t.Fatalf("batch %d: found %d rows and %d bytes of shape %v", b.Number, b.Rows, len(b.Columns[0].Values), b.Columns[0].Shape)
		}
		steps = append(steps, s)
		if len(steps) == limit {
			break
		}
	}
	return steps
}

// Every row comes as often as the order and the tail say, for any number of ranks and threads. A pass that is resumed
// anywhere continues as if it had not been left.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 300).Draw(t, "rows")
		src := columns(rows)
		o := batch.Options{
			Size:  rapid.IntRange(1, 40).Draw(t, "size"),
			Seed:  rapid.Uint64().Draw(t, "seed"),
			Tail:  rapid.SampledFrom([]batch.Tail{batch.Short, batch.Fill, batch.Drop, batch.Pad}).Draw(t, "tail"),
			Ranks: rapid.IntRange(1, 4).Draw(t, "ranks"),
		}
		switch rapid.IntRange(0, 3).Draw(t, "order") {
		case 1:
			o.Order = batch.Sequential(uint64(rows))
		case 2:
			o.Order, _ = batch.Windowed(uint64(rows), uint64(rapid.IntRange(1, 50).Draw(t, "block")), uint64(rapid.IntRange(1, 5).Draw(t, "window")))
		case 3:
			classes := make([]uint32, rows)
			for i := range classes {
				classes[i] = uint32(i % 7 % 3)
			}
			o.Order, _ = batch.Stratified(classes)
		}
		skip := rapid.IntRange(0, 2).Draw(t, "epoch")
		var all []step
		lens := map[int]bool{}
		for o.Rank = range o.Ranks {
			var first []step
			for o.Threads = 1; o.Threads <= 3; o.Threads++ {
				it, err := batch.New(src, o)
				if err != nil {
					t.Fatal(err)
				}
				for range skip {
					walk(t, it, src, 1)
				}
				n := it.Len()
				got := walk(t, it, src, -1)
				if len(got) != n {
					t.Fatalf("found %d batches, expected Len's %d", len(got), n)
				}
				lens[n] = true
				if o.Threads == 1 {
					first = got
				} else if !reflect.DeepEqual(got, first) {
					t.Fatalf("%d threads: found other batches than one", o.Threads)
				}
				resumeAnywhere(t, src, o, got, uint64(skip))
			}
			all = append(all, first...)
		}
		if o.Tail != batch.Short && len(lens) > 1 {
			t.Fatalf("tail %s: found ranks with %v batches, expected equal numbers", o.Tail, lens)
		}
		slices.SortFunc(all, func(a, b step) int { return a.Number - b.Number })
		var items []uint64
		for i, s := range all {
			if s.Number != i {
				t.Fatalf("found batch %d at %d, expected each number once", s.Number, i)
			}
			want := slices.Clone(s.Items)
			if o.Tail == batch.Fill && i >= (rows+o.Size-1)/o.Size {
				continue // TestEvenRanks
			}
			items = append(items, s.Items...)
			for o.Tail == batch.Pad && len(want) < o.Size {
				want = append(want, ^uint64(0))
			}
			if !slices.Equal(s.Rows, want) {
				t.Fatalf("batch %d: found rows %v, expected items %v", i, s.Rows, s.Items)
			}
		}
		n := rows
		if o.Tail == batch.Drop {
			n -= rows % (o.Size * o.Ranks)
		}
		order := o.Order
		if order == nil {
			order = batch.Shuffled(uint64(rows))
		}
		want := make([]uint64, rows)
		order.Epoch(o.Seed, uint64(skip)).Fill(want, 0)
		if !slices.Equal(items, want[:n]) {
			t.Fatalf("found items %v, expected %v", items, want[:n])
		}
		slices.Sort(want)
		for i, x := range want {
			if x != uint64(i) {
				t.Fatalf("found item %d at %d of the sorted order, expected each once", x, i)
			}
		}
	})
}

// resumeAnywhere leaves a pass after some batches, and resumes it in another iterator.
func resumeAnywhere(t *rapid.T, src []*graph.Column, o batch.Options, want []step, epoch uint64) {
	if len(want) == 0 {
		return
	}
	left := rapid.IntRange(1, len(want)).Draw(t, "left after")
	it, _ := batch.New(src, o)
	for range epoch {
		walk(t, it, src, 1)
	}
	walk(t, it, src, left)
	text, err := json.Marshal(it.State())
	if err != nil {
		t.Fatal(err)
	}
	var state batch.State
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	again, _ := batch.New(src, o)
	if err := again.Resume(state); err != nil {
		t.Fatal(err)
	}
	got := walk(t, again, src, -1)
	if left == len(want) {
		// Another rank may have one more batch of the epoch. A state for all ranks is then still in the epoch.
		if len(got) == 0 && (o.Tail != batch.Short || o.Ranks == 1) || len(got) > 0 && got[0].Epoch != epoch+1 {
			t.Fatal("found the finished epoch again, expected the next one")
		}
		return
	}
	if !reflect.DeepEqual(got, want[left:]) {
		t.Fatalf("resumed after %d: found %v, expected %v", left, got, want[left:])
	}
}

// With Fill, the default of several ranks, and with Drop, every rank gets the same number of batches in every order of
// rows and groups, also when an epoch is resumed with another number of ranks. Each batch belongs to one rank, or
// repeats such a batch.
func TestEvenRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 120).Draw(t, "rows")
		src := columns(rows)
		o := batch.Options{Size: rapid.IntRange(1, 20).Draw(t, "size"), Seed: 5, Tail: rapid.SampledFrom([]batch.Tail{batch.ByRanks, batch.Drop}).Draw(t, "tail")}
		var ptr []uint64
		var g batch.GroupOptions
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 1:
			o.Order, _ = batch.Windowed(uint64(rows), 7, 3)
		case 2:
			o.Order, _ = batch.Stratified(make([]uint32, rows))
		case 3:
			weights := make([]float64, rows)
			for i := range weights {
				weights[i] = float64(1 + i%3)
			}
			if rows > 0 {
				o.Order, _ = batch.Weighted(weights, uint64(rapid.IntRange(0, 200).Draw(t, "length")))
			}
		case 4:
			ptr = groupsOf(rows)
		case 5:
			ptr, g.CountRows = groupsOf(rows), true
		case 6:
			ptr, g.Bucketed, g.Padded = groupsOf(rows), true, rapid.Bool().Draw(t, "padded")
		}
		pass := func(rank, ranks, from int) []step {
			o := o
			o.Rank, o.Ranks = rank, ranks
			it, err := batch.New(src, o)
			if ptr != nil {
				it, err = batch.NewGroups(src, ptr, o, g)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := it.State()
			s.Batch = from
			if err := it.Resume(s); err != nil {
				t.Fatal(err)
			}
			n := it.Len()
			steps := walk(t, it, src, -1)
			if from == 0 && len(steps) != n {
				t.Fatalf("found %d batches, expected Len's %d", len(steps), n)
			}
			return steps
		}
		alone := pass(0, 1, 0)
		from := rapid.IntRange(0, len(alone)).Draw(t, "from")
		ranks := rapid.IntRange(2, 6).Draw(t, "ranks")
		left := len(alone) - from
		each := (left + ranks - 1) / ranks
		if o.Tail == batch.Drop {
			each = left / ranks
		}
		for rank := range ranks {
			steps := pass(rank, ranks, from)
			if len(steps) != each {
				t.Fatalf("rank %d of %d: found %d batches, expected %d", rank, ranks, len(steps), each)
			}
			for i, s := range steps {
				want := alone[(from+rank+i*ranks)%len(alone)]
				want.Number = from + rank + i*ranks
				if !reflect.DeepEqual(s, want) {
					t.Fatalf("rank %d of %d: found %+v, expected %+v", rank, ranks, s, want)
				}
			}
		}
	})
}

// groupsOf is groups of 0 to 4 rows with the given number of rows in all.
func groupsOf(rows int) []uint64 {
	ptr := []uint64{0}
	for at := 0; at < rows; {
		at = min(rows, at+(3*len(ptr)+at)%5)
		ptr = append(ptr, uint64(at))
	}
	return ptr
}

// Groups stay whole and in order. A batch has Size of them, or as many as fit Size rows.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(t, "sizes")
		ptr := []uint64{0}
		for _, s := range sizes {
			ptr = append(ptr, ptr[len(ptr)-1]+uint64(s))
		}
		src := columns(int(ptr[len(sizes)]))
		o := batch.Options{
			Size:    rapid.IntRange(1, 12).Draw(t, "size"),
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Tail:    rapid.SampledFrom([]batch.Tail{batch.Short, batch.Fill, batch.Drop, batch.Pad}).Draw(t, "tail"),
			Threads: 2,
		}
		g := batch.GroupOptions{Padded: rapid.Bool().Draw(t, "padded")}
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 1:
			g.CountRows = true
		case 2:
			g.Bucketed = true
		}
		it, err := batch.NewGroups(src, ptr, o, g)
		if err != nil {
			t.Fatal(err)
		}
		n := it.Len()
		steps := walk(t, it, src, -1)
		if len(steps) != n {
			t.Fatalf("found %d batches, expected Len's %d", len(steps), n)
		}
		seen := map[uint64]bool{}
		for _, s := range steps {
			var rows []uint64
			for i, item := range s.Items {
				if seen[item] {
					t.Fatalf("found group %d twice", item)
				}
				seen[item] = true
				if s.Ptr[i+1]-s.Ptr[i] != uint64(sizes[item]) {
					t.Fatalf("group %d: found %d rows, expected %d", item, s.Ptr[i+1]-s.Ptr[i], sizes[item])
				}
				for r := ptr[item]; r < ptr[item+1]; r++ {
					rows = append(rows, r)
				}
			}
			got := slices.DeleteFunc(slices.Clone(s.Rows), func(r uint64) bool { return r == ^uint64(0) })
			if !slices.Equal(got, rows) {
				t.Fatalf("found rows %v, expected those of groups %v", got, s.Items)
			}
			if !g.Padded && len(got) != len(s.Rows) {
				t.Fatalf("found padding in batches that are not padded")
			}
			if g.CountRows && len(s.Items) > 1 && len(rows) > o.Size {
				t.Fatalf("found %d rows, expected at most %d", len(rows), o.Size)
			}
			if !g.CountRows && len(s.Items) > o.Size {
				t.Fatalf("found %d groups, expected at most %d", len(s.Items), o.Size)
			}
			if want := o.Size + 1; o.Tail == batch.Pad && !g.CountRows && len(s.Ptr) != want {
				t.Fatalf("found %d offsets, expected %d", len(s.Ptr), want)
			}
		}
		if dropped := len(sizes) - len(seen); o.Tail != batch.Drop && dropped > 0 || g.CountRows && dropped > 0 || !g.Bucketed && dropped >= o.Size {
			t.Fatalf("found %d groups left out", dropped)
		}
	})
}

// Epochs differ, and so do seeds.
func TestEpochsAndSeedsDiffer(t *testing.T) {
	src := columns(256)
	seen := map[string]string{}
	for seed := uint64(1000); seed < 1006; seed++ {
		it, err := batch.New(src, batch.Options{Size: 256, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range 6 {
			for b, err := range it.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("seed %d, epoch %d", seed, epoch)
				if other, again := seen[fmt.Sprint(b.Items)]; again {
					t.Errorf("%s: found the order of %s", what, other)
				}
				seen[fmt.Sprint(b.Items)] = what
				want := make([]uint64, 256)
				draw.NewOrder(256, draw.Key(seed, uint64(epoch), draw.OrderWord)).Fill(want, 0)
				if !slices.Equal(b.Items, want) {
					t.Errorf("%s: found another order than the law's", what)
				}
			}
		}
	}
}

func TestStateOfAnother(t *testing.T) {
	base := batch.Options{Size: 10, Seed: 1}
	make := func(src []*graph.Column, o batch.Options) *batch.Iter {
		it, err := batch.New(src, o)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	state := make(columns(100), base).State()
	changed := columns(100)
	changed[1].Values[8] ^= 1
	for name, it := range map[string]*batch.Iter{
		"rows":  make(columns(101), base),
		"value": make(changed, base),
		"size":  make(columns(100), batch.Options{Size: 11, Seed: 1}),
		"seed":  make(columns(100), batch.Options{Size: 10, Seed: 2}),
		"tail":  make(columns(100), batch.Options{Size: 10, Seed: 1, Tail: batch.Drop}),
		"order": make(columns(100), batch.Options{Size: 10, Seed: 1, Order: batch.Sequential(100)}),
	} {
		if err := it.Resume(state); !errors.Is(err, batch.ErrState) {
			t.Errorf("another %s: found %v, expected ErrState", name, err)
		}
	}
	other := make(columns(100), batch.Options{Size: 10, Seed: 1, Rank: 1, Ranks: 3, Threads: 2})
	if err := other.Resume(state); err != nil {
		t.Errorf("other ranks, with their default tail: found %v, expected none", err)
	}
	old := state
	old.Version = 1
	if err := other.Resume(old); !errors.Is(err, batch.ErrState) || !strings.Contains(err.Error(), "found version 1 of the draw law, expected 2") {
		t.Errorf("version 1: found %v, expected ErrState that names the draw law", err)
	}
	state.Batch = 11
	if err := other.Resume(state); !errors.Is(err, batch.ErrState) {
		t.Errorf("too many batches: found %v, expected ErrState", err)
	}
}

func TestBadInput(t *testing.T) {
	c := columns(10)
	text := &graph.Column{Name: "s", DType: graph.String, Rows: 10}
	for want, f := range map[string]func() error{
		"found no column": func() error { _, err := batch.New(nil, batch.Options{Size: 1}); return err },
		"batch size 0":    func() error { _, err := batch.New(c, batch.Options{}); return err },
		"rank 2 of 2":     func() error { _, err := batch.New(c, batch.Options{Size: 1, Rank: 2, Ranks: 2}); return err },
		"found 9 rows, expected 10": func() error {
			_, err := batch.New([]*graph.Column{c[0], columns(9)[0]}, batch.Options{Size: 1})
			return err
		},
		"leave the column out": func() error { _, err := batch.New([]*graph.Column{text}, batch.Options{Size: 1}); return err },
		"multiple of the batch size 3": func() error {
			_, err := batch.New(c, batch.Options{Size: 3, Tail: batch.Error})
			return err
		},
		"found 3 batches, expected a multiple of the 2 ranks": func() error {
			it, err := batch.NewGroups(c, []uint64{0, 3, 6, 10}, batch.Options{Size: 3, Ranks: 2, Tail: batch.Error}, batch.GroupOptions{CountRows: true})
			if err != nil {
				return err
			}
			for _, err = range it.All(context.Background()) {
			}
			return err
		},
		"found tail 6": func() error { _, err := batch.New(c, batch.Options{Size: 1, Tail: batch.Error + 1}); return err },
		"multiple of the 4 ranks": func() error {
			_, err := batch.New(c, batch.Options{Size: 5, Ranks: 4, Tail: batch.Error})
			return err
		},
		"an order of 9 items": func() error { _, err := batch.New(c, batch.Options{Size: 3, Order: batch.Shuffled(9)}); return err },
		"ascend from 0 to the 10 rows": func() error {
			_, err := batch.NewGroups(c, []uint64{0, 5, 11}, batch.Options{Size: 3}, batch.GroupOptions{})
			return err
		},
		"id of the group at row 0 again": func() error { _, err := batch.GroupsOf(batch.Column("q", []int32{1, 1, 2, 1})); return err },
		"sum 0":                          func() error { _, err := batch.Weighted([]float64{0, -1}, 5); return err },
		"class 4000000000":               func() error { _, err := batch.Stratified([]uint32{4e9}); return err },
		"blocks of 0 items":              func() error { _, err := batch.Windowed(5, 0, 1); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected an error with %q", err, want)
		}
	}
}

func TestGroupsOf(t *testing.T) {
	got, err := batch.GroupsOf(batch.Column("q", []int64{8, 8, 8, 1, 1, 7}))
	if want := []uint64{0, 3, 5, 6}; err != nil || !slices.Equal(got, want) {
		t.Errorf("found %v, %v, expected %v", got, err, want)
	}
	if got, err = batch.GroupsOf(batch.Column("q", []int64{})); err != nil || !slices.Equal(got, []uint64{0}) {
		t.Errorf("found %v, %v, expected one offset", got, err)
	}
}

// A cancelled context ends the iteration with its error.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	it, err := batch.New(columns(200000), batch.Options{Size: 10, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err = range it.All(ctx) {
		if err != nil {
			break
		}
		if n++; n == 3 {
			cancel()
		}
	}
	cancel()
	if !errors.Is(err, context.Canceled) || n == it.Len() {
		t.Errorf("found %v after %d batches", err, n)
	}
}
