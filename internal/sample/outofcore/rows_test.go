package outofcore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// openRows opens a plan, with the columns of the first edge type as tables.
func openRows(t testing.TB, fsys vfs.FS, s *store.Store, plan *sample.Plan, opt Options) (x *Executor, r *Rows, stands []*graph.Column, err error) {
	t.Helper()
	if x, err = Open(t.Context(), fsys, s, plan, opt); err != nil {
		return nil, nil, nil, err
	}
	r = x.EdgeRows(0)
	for _, c := range columnsOf(s) {
		stand, err := r.Column(c)
		if err != nil {
			return nil, nil, nil, errors.Join(err, x.Close())
		}
		stands = append(stands, stand)
	}
	return x, r, stands, nil
}

// columnsOf is the columns of the first edge type except those that the store adds.
func columnsOf(s *store.Store) []*graph.Column {
	return slices.DeleteFunc(slices.Clone(s.Graph.Edges[0].Columns), func(c *graph.Column) bool { return strings.HasPrefix(c.Name, "#") })
}

// holds is an error where the rows of a table differ from the rows of the columns.
func holds(s *store.Store, r *Rows, stands []*graph.Column, ids graph.Index) error {
	for i, place := range r.Places(nil, ids) {
		for c, column := range columnsOf(s) {
			if got, want := stands[c].Row(int(place)), column.Row(int(ids.At(i))); !bytes.Equal(got, want) {
				return fmt.Errorf("column %s, row %d: found %x, expected %x", column.Name, ids.At(i), got, want)
			}
		}
	}
	return nil
}

// TestRowsWanted checks that a table has the rows that are wanted, few or many, and that few rows read few bytes.
func TestRowsWanted(t *testing.T) {
	s := typedStore(t)
	plan, _ := fanout(t, s, sample.ScopeBatch, 1)
	x, r, stands, err := openRows(t, vfs.OS, s, plan, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	rnd := rand.New(rand.NewPCG(1, 2))
	before, size := int64(0), x.rows.size()
	for _, share := range []float64{0, 1e-5, 1e-4, 0.01, 0.5, 1} {
		for _, brk := range []int{0, 20, 1 << 20} {
			x.rows.disk.pages = brk
			var ids []uint32
			for v := range r.count {
				if rnd.Float64() < share {
					ids = append(ids, uint32(v))
				}
			}
			rnd.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			r.reset()
			r.mark(ids)
			r.mark(ids[:len(ids)/2])
			if err := keep(x.rows.tables(), 0, true); err != nil {
				t.Fatal(err)
			}
			r.order()
			if err := x.rows.read(t.Context(), x.rows.tables(), 2); err != nil {
				t.Fatal(err)
			}
			if r.marked != len(ids) {
				t.Errorf("found %d rows, expected %d", r.marked, len(ids))
			}
			if err := holds(s, r, stands, graph.Index{U32: ids}); err != nil {
				t.Errorf("%g of the rows, up to %d pages a block: %v", share, brk, err)
			}
			read := x.Counts().Rows - before
			before += read
			// The first and the last page of a block are read whole.
			if most := size + size/50; read > most || share == 0 && read > 0 || share < 1e-4 && brk > 0 && read > most/4 {
				t.Errorf("%g of the rows, up to %d pages a block: %d of %d bytes were read", share, brk, read, size)
			}
		}
	}
}

// TestRowsInGroups checks that a run has the rows of each batch while it encodes the batch, in tables of any size that
// hold the rows of one batch.
func TestRowsInGroups(t *testing.T) {
	s := typedStore(t)
	plan, job := fanout(t, s, sample.ScopeBatch, 1500)
	run := func(fsys vfs.FS, opt Options) (Counts, error) {
		x, r, stands, err := openRows(t, fsys, s, plan, opt)
		if err != nil {
			return Counts{}, err
		}
		x.rows.always = true
		_, err = Run(t.Context(), x, job, newLines, func(_ context.Context, _ *lines, _ *sample.Batch, sub *sample.Subgraph) error {
			return holds(s, r, stands, sub.Edges[0].ID)
		}, func(*lines) error { return nil })
		return x.Counts(), errors.Join(err, x.Close())
	}
	read := int64(0)
	for _, rows := range []int64{0, 400_000, 150_000} {
		counts, err := run(vfs.OS, Options{Threads: 2, Window: 20, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		if counts.Rows <= read {
			t.Errorf("tables of %d bytes: found %d bytes read, expected more than %d, which larger ones cost", rows, counts.Rows, read)
		}
		read = counts.Rows
	}
	if _, err := run(vfs.OS, Options{Threads: 2, Rows: 10_000}); !errors.Is(err, ErrMemory) || !strings.Contains(fmt.Sprint(err), "columns t, w") {
		t.Errorf("found error %v, expected one of memory that names the columns", err)
	}
	// Within a budget.
	if counts, err := run(vfs.OS, Options{Threads: 2, Memory: 80 << 20}); err != nil || counts.Rows == 0 {
		t.Errorf("found %d bytes read, error %v", counts.Rows, err)
	}
	// Through a scratch file: one pass per window.
	spilled, err := run(vfs.OS, Options{Threads: 2, Window: 20, Rows: 150_000, Scratch: t.TempDir(), Design: Windows})
	if err != nil || spilled.Rows >= read/2 {
		t.Errorf("found %d bytes read by way of a scratch file, error %v, expected less than half of the %d without", spilled.Rows, err, read)
	}
	// Any call may fail.
	job.Epochs, job.Seeds = 1, job.Seeds[:300]
	opt := Options{Threads: 2, Window: 4, Rows: 100_000, Scratch: t.TempDir(), Design: Windows}
	count, broken := &vfs.Fault{FS: vfs.OS}, errors.New("broken")
	if _, err := run(count, opt); err != nil {
		t.Fatal(err)
	}
	for i, calls := int64(1), count.Calls(); i <= calls; i += max(1, calls/40) {
		f := &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}
		if _, err := run(f, opt); !errors.Is(err, broken) && (err != nil || f.Calls() >= i) {
			t.Fatalf("call %d of %d: found error %v, expected that of the call", i, calls, err)
		}
	}
}

// TestRowsEnd checks that a run that is cancelled while it reads rows ends, and that a file that was cut is refused by
// name.
func TestRowsEnd(t *testing.T) {
	s := makeStore(t, sampletest.TypedNodes, sampletest.TypedEdges, assemble.Options{Both: true})
	plan, job := fanout(t, s, sample.ScopeBatch, 1500)
	x, _, _, err := openRows(t, vfs.OS, s, plan, Options{Threads: 2, Window: 3, Rows: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Run(ctx, x, job, newLines, func(context.Context, *lines, *sample.Batch, *sample.Subgraph) error { cancel(); return nil }, func(*lines) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v, expected that of the context", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	cut, _ := s.ArrayFile(s.Meta.Edges[s.Graph.Edges[0].Type.String()].Columns["t"].File)
	if err := os.Truncate(cut, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openRows(t, vfs.OS, s, plan, Options{}); err == nil || !strings.Contains(err.Error(), filepath.Base(cut)) {
		t.Errorf("found error %v, expected one that names %s", err, cut)
	}
}
