package draft

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// value is a value of a column, by its hash: how many rows have it, and the first two of them.
type value struct {
	high, low     uint64
	first, second uint64 // second is none if there is one row
	count         uint32
	column        uint32
}

// none is no row.
const none = math.MaxUint64

// valueSize is the bytes of a value on disk.
const valueSize = 40

// values are the values of all columns that may be ids or keys, in buckets by hash on disk.
type values struct {
	spill   *extsort.Spill
	part    *extsort.Partition
	shift   uint
	buckets int
	most    int // values that are held in memory while a bucket is read
	slots   int // of a cache, for each column and worker: a power of two
	memory  int64

	read    []*column
	writers []valueWriter
}

// valueWriter is the cache of one worker, in which repeated values of the rows so far are counted. A slot without rows is free.
type valueWriter struct {
	*extsort.Writer
	cache []value
	_     [64]byte
}

// leastMemory is the least bound of a draft with one thread, and threadMemory what each further one takes.
const (
	leastMemory  = 56 << 20
	threadMemory = 8 << 20
)

// The bytes of a buffer of a bucket: whole values.
const (
	mostExtent  = 800 * valueSize
	leastExtent = 50 * valueSize
)

// listBytes is what the lists of extents take for each, and leastShare the least part of the memory that the values work with.
const (
	listBytes  = 256
	leastShare = 1 << 20
)

// shares divides the memory that a draft may use besides the process: a share each for the values that are held, for those that wait to be
// written, and for caches and buffers. The rest is for the scan of a table and the lists of extents, which grow with the tables. The
// values of tables take about the size of their files, or a few times as much where these are compressed.
func shares(memory, size int64, threads int) (share int64, buckets, extent int) {
	share, buckets = max(memory, 0)/12, 16
	for int64(buckets)*share < size && buckets < 4096 && int64(threads*2*buckets*leastExtent) <= share {
		buckets *= 2
	}
	for range 3 {
		extent = min(max(int(share)/(threads*buckets)/valueSize*valueSize, leastExtent), mostExtent)
		share = max(memory-size/int64(extent)*listBytes, 0) / 12
	}
	return share, buckets, extent
}

// newValues makes room for the values of all columns of a draft.
func newValues(fsys vfs.FS, d *drafter) (*values, error) {
	size := int64(0)
	for _, t := range d.Tables {
		if t.Data != nil {
			size += t.Data.Bytes()
		}
	}
	share, buckets, extent := shares(d.o.Memory-limits.ProcessBytes, size, d.o.Threads)
	if share < leastShare {
		return nil, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected more for tables of %s; give more memory", human.Bytes(d.o.Memory), human.Bytes(size))
	}
	v := &values{spill: extsort.NewSpill(fsys, d.o.Temp, share), buckets: buckets, shift: uint(64 - bits.TrailingZeros(uint(buckets))), memory: share,
		most: int(max(share/valueSize, 1<<12))}
	v.part = extsort.NewPartition(v.spill, buckets, extent, v.shift)
	v.writers = make([]valueWriter, d.o.Threads)
	for i := range v.writers {
		w, err := v.part.Writer()
		if err != nil {
			v.close(&err)
			return nil, err
		}
		v.writers[i].Writer = w
	}
	return v, nil
}

// close frees what is held, and joins its error.
func (v *values) close(err *error) {
	v.part.Close()
	*err = errors.Join(*err, v.spill.Close())
}

// begin makes ready for a table, of which the given columns are read.
func (v *values) begin(read []*column) error {
	v.read, v.slots = read, 1024
	for v.slots > 16 && int64(v.slots*len(read)*len(v.writers)*int(valueSize)) > v.memory {
		v.slots /= 2
	}
	for i := range v.writers {
		v.writers[i].cache = make([]value, v.slots*len(read))
	}
	return nil
}

// add notes the value of a cell of column i of the table.
func (v *values) add(worker, i int, text []byte, row uint64) error {
	w := &v.writers[worker]
	h := xxh3.Hash128(text)
	slot := &w.cache[i*v.slots+int(h.Lo)&(v.slots-1)]
	if slot.count > 0 && slot.high == h.Hi && slot.low == h.Lo && slot.count < math.MaxUint32 {
		slot.merge(&value{first: row, second: none, count: 1})
		return nil
	}
	if err := w.put(slot); err != nil {
		return err
	}
	*slot = value{high: h.Hi, low: h.Lo, first: row, second: none, count: 1, column: uint32(v.read[i].number)}
	return nil
}

// merge adds other rows with the same value.
func (a *value) merge(b *value) {
	low := min(a.first, b.first)
	a.second = min(max(a.first, b.first), a.second, b.second)
	a.first = low
	a.count += b.count
}

// put writes a slot that is used.
func (w *valueWriter) put(x *value) error {
	if x.count == 0 {
		return nil
	}
	b, err := w.Slot(x.high, valueSize)
	if err != nil {
		return err
	}
	for i, n := range [4]uint64{x.high, x.low, x.first, x.second} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	binary.LittleEndian.PutUint32(b[32:], x.count)
	binary.LittleEndian.PutUint32(b[36:], x.column)
	return nil
}

// end writes what the caches hold of the table.
func (v *values) end() error {
	for i := range v.writers {
		w := &v.writers[i]
		for k := range w.cache {
			if err := w.put(&w.cache[k]); err != nil {
				return err
			}
		}
		w.cache = nil
	}
	return nil
}

// finish ends the writing of all tables.
func (v *values) finish() error { return v.part.Finish() }

// each calls fn for each value of the columns that are wanted: with the columns that have it, in the order of their numbers.
func (v *values) each(ctx context.Context, wanted []bool, fn func(group []value)) error {
	var buf []byte
	held := make([]value, 0, v.most)
	for b := range v.buckets {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		held = held[:0]
		combined := 0
		err := v.part.Scan(b, &buf, func(data []byte, _ bool) error {
			for ; len(data) >= valueSize; data = data[valueSize:] {
				if wanted[binary.LittleEndian.Uint32(data[36:])] {
					held = append(held, decode(data))
				}
			}
			// Repeated values are joined before the bucket grows beyond its share.
			if len(held) > v.most && len(held) > 2*combined {
				held = combine(held)
				combined = len(held)
			}
			return nil
		})
		if err != nil {
			return err
		}
		held = combine(held)
		for from := 0; from < len(held); {
			to := from + 1
			for to < len(held) && held[to].high == held[from].high && held[to].low == held[from].low {
				to++
			}
			fn(held[from:to])
			from = to
		}
	}
	return nil
}

func decode(b []byte) value {
	return value{high: binary.LittleEndian.Uint64(b), low: binary.LittleEndian.Uint64(b[8:]), first: binary.LittleEndian.Uint64(b[16:]), second: binary.LittleEndian.Uint64(b[24:]),
		count: binary.LittleEndian.Uint32(b[32:]), column: binary.LittleEndian.Uint32(b[36:])}
}

// combine sorts values, and joins equal ones of one column, unless their count is too large.
func combine(all []value) []value {
	slices.SortFunc(all, compareValues)
	out := all[:0]
	for _, x := range all {
		if n := len(out); n > 0 && out[n-1].high == x.high && out[n-1].low == x.low && out[n-1].column == x.column && uint64(out[n-1].count)+uint64(x.count) <= math.MaxUint32 {
			out[n-1].merge(&x)
			continue
		}
		out = append(out, x)
	}
	return out
}

// compareValues orders values by hash, column and first row. Most pairs differ in the first part.
func compareValues(a, b value) int {
	switch {
	case a.high < b.high:
		return -1
	case a.high > b.high:
		return 1
	}
	return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.column, b.column), cmp.Compare(a.first, b.first))
}

// measure counts the distinct values of all columns.
func (v *values) measure(ctx context.Context, columns []*column) error {
	wanted := make([]bool, len(columns))
	for i, c := range columns {
		c.firstRepeat, wanted[i] = none, true
	}
	return v.each(ctx, wanted, func(group []value) {
		for i, x := range group {
			c := columns[x.column]
			again := i > 0 && group[i-1].column == x.column // of a count that is too large for one
			if again {
				c.repeats += uint64(x.count)
				c.firstRepeat = min(c.firstRepeat, x.first)
				continue
			}
			c.distinct++
			c.repeats += uint64(x.count) - 1
			c.firstRepeat = min(c.firstRepeat, x.second)
		}
	})
}

// inclusion is how many of the values of a column another one has, too.
type inclusion struct {
	from, to *column
	inside   uint64 // rows
	dangling uint64 // rows
	values   uint64 // distinct values that dangle
	first    uint64 // the first row that dangles
	// ignored are texts of from that count as no values.
	ignored []string
}

// include counts inclusions of columns, of which there are n in all.
func (v *values) include(ctx context.Context, n int, pairs []*inclusion) error {
	by, wanted := map[uint32][]*inclusion{}, make([]bool, n)
	ignored := map[*inclusion]map[xxh3.Uint128]bool{}
	for _, p := range pairs {
		for _, text := range p.ignored {
			if ignored[p] == nil {
				ignored[p] = map[xxh3.Uint128]bool{}
			}
			ignored[p][xxh3.Hash128([]byte(text))] = true
		}
		p.first, wanted[p.from.number], wanted[p.to.number] = none, true, true
		by[uint32(p.from.number)] = append(by[uint32(p.from.number)], p)
	}
	return v.each(ctx, wanted, func(group []value) {
		has := func(n int) bool {
			_, found := slices.BinarySearchFunc(group, uint32(n), func(x value, n uint32) int { return cmp.Compare(x.column, n) })
			return found
		}
		for i, x := range group {
			for _, p := range by[x.column] {
				if ignored[p][xxh3.Uint128{Hi: x.high, Lo: x.low}] {
					continue
				}
				if has(p.to.number) {
					p.inside += uint64(x.count)
					continue
				}
				p.dangling += uint64(x.count)
				p.first = min(p.first, x.first)
				if i == 0 || group[i-1].column != x.column {
					p.values++
				}
			}
		}
	})
}
