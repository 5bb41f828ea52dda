package predictions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Top says which items each source gets: those with the highest products of embeddings.
type Top struct {
	K                int    // items of a source, at least 1
	Sources, Targets string // .npy files of embeddings, a row per node
	Cosine           bool   // divide products by the lengths
	// Known are edges whose links are left out: TYPE, or TYPE:COLUMN=VALUE.
	Known []string
	// Begin, if not nil, receives the number of pairs to look at, and Progress the numbers of those that are done.
	Begin, Progress func(pairs int64)
}

// Found says what was looked at.
type Found struct {
	Sources, Targets int
	Rows             int64
	Few              int64 // sources that get fewer than K items
}

const (
	// nearBytes is the part of a block of items that stays in a cache of a processor.
	nearBytes = 128 << 10
	// tileBlocks is the size of the sources that are looked at together, in blocks of items.
	tileBlocks = 64
	// apart is how many sources a thread takes at a time.
	apart = 16
)

// FindTop finds the items of each source, for Write to write them: a row per source and item, by source and rank. They lie in files without names beside the output.
func FindTop(ctx context.Context, fsys vfs.FS, s *store.Store, to Target, o *Options, top Top) (_ *Found, err error) {
	x, err := openTop(fsys, s, o, top)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.sources.f.Close(), x.targets.f.Close()) }()
	if err := free(ctx, fsys, to, o); err != nil {
		return nil, err
	}
	dir := filepath.Dir(filepath.Clean(strings.TrimPrefix(to.Path, "sqlite:")))
	if to.Format == Database && !strings.HasPrefix(to.Path, "sqlite:") {
		dir = os.TempDir()
	}
	if err := x.find(ctx, fsys, dir); err != nil {
		return nil, errors.Join(err, x.out.close())
	}
	o.Type = x.ends[0].Type + ":" + x.ends[1].Type
	o.made = &x.out
	return &x.found, nil
}

// topRun is a run of FindTop.
type topRun struct {
	Top
	o                *Options
	scoring          scoring
	ends             [2]*graph.Nodes
	sources, targets *embeddings
	known            []*known
	pages            pages
	found            Found
	out              madeRows
}

// openTop opens what the options name.
func openTop(fsys vfs.FS, s *store.Store, o *Options, top Top) (_ *topRun, err error) {
	for _, x := range []struct {
		field string
		given bool
	}{{"Arrays", len(o.Arrays) > 0}, {"Nodes", o.Nodes != ""}, {"Rows", o.Rows != ""}, {"With", len(o.With) > 0}, {"IDName", o.IDName != ""}, {"EdgeIDs", o.EdgeIDs}} {
		if x.given {
			return nil, usagef("found `%s` with `Top`, expected it without, because the table has the columns source, target, rank and score; leave it out", x.field)
		}
	}
	if top.Sources == "" || top.Targets == "" {
		return nil, usagef("found `Top` without `SourceEmbeddings` and `TargetEmbeddings`, expected a .npy file for each, with a row per node; give both")
	}
	if top.K < 1 {
		return nil, usagef("found `Top` %d, expected at least 1", top.K)
	}
	subject, err := findSubject(fsys, s, o.Type)
	if err != nil {
		return nil, err
	}
	x := &topRun{Top: top, o: o, ends: subject.pair, pages: pages{store: s}}
	if subject.nodes != nil {
		return nil, usagef("found `Type` %s with `Top`, expected the node types of sources and targets, SRC:DST, or an edge type", subject.name())
	}
	if subject.edges != nil {
		for i, name := range []string{subject.edges.Type.Src, subject.edges.Type.Dst} {
			if x.ends[i], err = subject.end(name); err != nil {
				return nil, err
			}
		}
	}
	if x.known, err = findKnown(s, top.Known, x.ends); err != nil {
		return nil, err
	}
	if x.sources, err = openEmbeddings(fsys, top.Sources, x.ends[0]); err != nil {
		return nil, err
	}
	if x.targets, err = openEmbeddings(fsys, top.Targets, x.ends[1]); err != nil {
		return nil, errors.Join(err, x.sources.f.Close())
	}
	if x.sources.d != x.targets.d {
		return nil, errors.Join(fmt.Errorf("%s: found rows of %d numbers, expected %d, as in %s; save embeddings of one size", top.Targets, x.targets.d, x.sources.d, top.Sources), x.sources.f.Close(), x.targets.f.Close())
	}
	x.K = min(x.K, x.targets.rows)
	x.scoring = scoring{cosine: top.Cosine, single: x.sources.single() && x.targets.single()}
	return x, nil
}

// free refuses a file or table that is there, before the work begins.
func free(ctx context.Context, fsys vfs.FS, to Target, o *Options) error {
	switch {
	case to.Format != Database:
		return vacant(fsys, to.Path, o.Overwrite)
	case strings.HasPrefix(to.Path, "sqlite:"):
		t, err := database.CreateTable(ctx, to.Path, to.Table, []database.NewColumn{{Name: "rank"}}, o.Overwrite)
		if err != nil {
			return err
		}
		return t.Rollback()
	}
	t, err := database.CopyTable(ctx, to.Path, to.Table, []database.CopyColumn{{Name: "rank", Type: "integer"}}, o.Overwrite)
	if err != nil {
		return err
	}
	return t.Rollback()
}

// find looks at all pairs.
func (x *topRun) find(ctx context.Context, fsys vfs.FS, dir string) (err error) {
	if x.out, err = newMadeRows(fsys, dir, x.scoring.single); err != nil {
		return err
	}
	d := x.sources.d
	rowBytes := int64(8 * max(d, 1))
	items := int(max(1, min(limits.ProductBytes/rowBytes, int64(x.targets.rows))))
	perSource := rowBytes + int64(x.K)*16 + 96 // its numbers, its best items, and what counts them and its links
	left, spare := tileBlocks*limits.ProductBytes, int64(math.MaxInt64)
	if x.o.Memory > 0 {
		// A block is in memory as it is read, and as numbers.
		least := limits.ProcessBytes + mappedBytes + 2*int64(items)*rowBytes + 2*perSource
		if x.o.Memory < least {
			return tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for embeddings of %d numbers and `Top` %d; give more `Memory`", human.Bytes(x.o.Memory), human.Bytes(least), d, x.K)
		}
		spare = (x.o.Memory - least) / 2 // the collector of garbage comes late
		left = min(left, spare+2*perSource)
	}
	if err := x.pages.bound(fsys, x.o.Memory > 0, mappedBytes); err != nil {
		return err
	}
	tile := int(max(1, min(left*3/4/perSource, int64(x.sources.rows))))
	links := int(left / 4 / 8)
	block := make([]float64, items*d)
	if err := x.checkRange(ctx, block); err != nil {
		return err
	}
	x.found.Sources, x.found.Targets = x.sources.rows, x.targets.rows
	if x.Begin != nil {
		x.Begin(int64(x.sources.rows) * int64(x.targets.rows))
	}
	t := &topTile{run: x, block: block, numbers: make([]float64, tile*d), lengths: make([]float64, tile), best: make([]best, tile)}
	room := make([]scored, tile*x.K)
	for i := range t.best {
		t.best[i] = best{k: x.K, items: room[i*x.K : i*x.K : (i+1)*x.K]}
	}
	fits := func(n int) error { // the links of one source alone may exceed their part of the memory
		if n <= links+1 || int64(n) <= spare/8 {
			return nil
		}
		return tagged.Errorf(limits.ErrMemory, "found %d links of one source in `Known`, expected at most %d with `Memory` %s; give more `Memory`", n, spare/8, human.Bytes(x.o.Memory))
	}
	for at := 0; at < x.sources.rows; {
		if t.out, err = gather(x.known, at, min(tile, x.sources.rows-at), links, x.ends[0] == x.ends[1], x.pages.touched, fits); err != nil {
			return err
		}
		n := len(t.out.ptr) - 1
		if err := t.fill(ctx, at, n); err != nil {
			return err
		}
		at += n
	}
	x.found.Rows = x.out.rows
	return x.out.flush()
}

// checkRange refuses embeddings that are not finite, or whose products could leave the range of float64.
func (x *topRun) checkRange(ctx context.Context, block []float64) error {
	widest := 1.0
	for _, e := range []*embeddings{x.sources, x.targets} {
		s, err := e.measure(block, ctx.Err)
		if err != nil {
			return err
		}
		reach := s.longest
		if x.scoring.cosine {
			reach = max(reach, 1/min(s.least, 1))
		}
		widest *= reach
	}
	if widest > 1e280 {
		return fmt.Errorf("%s: found embeddings whose products or lengths with those of %s leave the range of float64, expected numbers nearer to 1; scale them", x.Sources, x.Targets)
	}
	return nil
}

// topTile is the sources that are looked at together.
type topTile struct {
	run     *topRun
	block   []float64 // of items
	lengths []float64 // of the sources
	numbers []float64
	best    []best
	out     leftOut
	item    []float64 // lengths of the items of the block
}

// fill finds the items of n sources from a source on, and writes them.
func (t *topTile) fill(ctx context.Context, first, n int) error {
	x, d := t.run, t.run.sources.d
	if err := x.sources.read(t.numbers[:n*d], first); err != nil {
		return err
	}
	for i := range n {
		t.best[i].items = t.best[i].items[:0]
		if x.scoring.cosine {
			t.lengths[i] = length(t.numbers[i*d : (i+1)*d])
		}
	}
	rows := max(1, len(t.block)/max(d, 1))
	if d == 0 {
		rows = max(1, x.targets.rows)
	}
	for at := 0; at < x.targets.rows; at += rows {
		m := min(rows, x.targets.rows-at)
		if err := x.targets.read(t.block[:m*d], at); err != nil {
			return err
		}
		if x.scoring.cosine {
			t.item = t.item[:0]
			for j := range m {
				t.item = append(t.item, length(t.block[j*d:(j+1)*d]))
			}
		}
		if err := t.compare(ctx, n, at, m); err != nil {
			return err
		}
		if x.Progress != nil {
			x.Progress(int64(n) * int64(m))
		}
	}
	for i := range n {
		if err := x.write(first+i, &t.best[i]); err != nil {
			return err
		}
	}
	return nil
}

// compare offers m items, from an item on, to n sources. Threads take sources; each source gets the items in their order.
func (t *topTile) compare(ctx context.Context, n, first, m int) error {
	d := t.run.sources.d
	near := max(1, nearBytes/8/max(d, 1))
	var next atomic.Int64
	all, ctx := guard.WithContext(ctx)
	for range min(t.run.o.Threads, (n+apart-1)/apart) {
		all.Go(func() error {
			for ctx.Err() == nil {
				from := int(next.Add(apart)) - apart
				if from >= n {
					return nil
				}
				for j := 0; j < m; j += near {
					for i := from; i < min(from+apart, n); i++ {
						t.offer(i, first, j, min(j+near, m))
					}
				}
			}
			return ctx.Err()
		})
	}
	return all.Wait()
}

// offer offers the items [from, to) of the block, whose first item is first, to a source.
func (t *topTile) offer(i, first, from, to int) {
	d, s, b := t.run.sources.d, t.run.scoring, &t.best[i]
	row := t.numbers[i*d : (i+1)*d]
	for j := from; j < to; j++ {
		var length float64
		if s.cosine {
			length = t.item[j]
		}
		score := s.of(row, t.block[j*d:(j+1)*d], t.lengths[i], length)
		if item := uint64(first + j); b.wants(score) && !t.out.has(i, item) {
			b.offer(scored{item, score})
		}
	}
}

// write writes the items of a source.
func (x *topRun) write(source int, b *best) error {
	b.sort()
	if len(b.items) < x.K {
		x.found.Few++
	}
	for rank, found := range b.items {
		if math.IsInf(found.score, 0) || math.IsNaN(found.score) {
			kind := graph.Float64
			if x.scoring.single {
				kind = graph.Float32
			}
			return fmt.Errorf("%s: found a product of source row %d and target row %d beyond the range of %s, expected smaller numbers; scale the embeddings", x.Sources, source, found.item, kind)
		}
		if err := x.out.add(uint64(source), found.item, rank+1, found.score); err != nil {
			return err
		}
	}
	return nil
}

// madeRows are rows of pairs that were made, in files without names: the values of each column, one after the other.
type madeRows struct {
	single bool
	rows   int64
	files  [4]vfs.File // source, target, rank, score
	to     [4]*bufio.Writer
}

func newMadeRows(fsys vfs.FS, dir string, single bool) (m madeRows, err error) {
	m.single = single
	for i := range m.files {
		if m.files[i], err = fsys.Temp(dir); err != nil {
			return m, err
		}
		m.to[i] = bufio.NewWriterSize(m.files[i], 1<<16)
	}
	return m, nil
}

// add adds a row.
func (m *madeRows) add(source, target uint64, rank int, score float64) (err error) {
	m.rows++
	var values [4][]byte
	values[0], values[1], values[2] = graph.Bytes([]uint64{source}), graph.Bytes([]uint64{target}), graph.Bytes([]int32{int32(min(rank, math.MaxInt32))})
	if values[3] = graph.Bytes([]float64{score}); m.single {
		values[3] = graph.Bytes([]float32{float32(score)})
	}
	for i, b := range values {
		if _, err := m.to[i].Write(b); err != nil {
			return err
		}
	}
	return nil
}

// flush writes what is in memory.
func (m *madeRows) flush() (err error) {
	for _, w := range m.to {
		err = errors.Join(err, w.Flush())
	}
	return err
}

// close closes the files that are open.
func (m *madeRows) close() (err error) {
	for _, f := range m.files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// column is column i as an array.
func (m *madeRows) column(i int, name string, d graph.DType) *array {
	return &array{Array: Array{Name: name, File: name}, f: m.files[i], rows: int(m.rows), dtype: d}
}

// arrays are the columns beside the ids.
func (m *madeRows) arrays() []*array {
	kind := graph.Float64
	if m.single {
		kind = graph.Float32
	}
	return []*array{m.column(2, "rank", graph.Int32), m.column(3, "score", kind)}
}

// numbers are the nodes of the pairs.
func (m *madeRows) numbers(x *subject) *numbers {
	of := func(i int, end *graph.Nodes) *numbers {
		return &numbers{file: m.column(i, "the nodes", graph.Uint64), count: end.Count, what: "the number of nodes of " + end.Type}
	}
	n := of(0, x.pair[0])
	n.targets = of(1, x.pair[1])
	return n
}
