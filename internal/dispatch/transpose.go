package dispatch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// transposed holds the in-edges of an edge type that a store lists by source, in a mapped temporary file.
type transposed struct {
	data  []byte
	unmap func() error
}

// transposeRecord is the size of a record: destination, source, edge id.
const transposeRecord = 16

// transpose fills in the in-edges of in from its out-edges. memory bounds the bytes of records that are held.
func (d *dispatcher) transpose(ctx context.Context, in *incoming, out *graph.Adjacency, memory int64) (err error) {
	nodes, sources := d.g.Nodes[in.dst].Count, d.g.Nodes[in.src].Count
	shape := newSortShape(memory, d.opt.Threads)
	buckets := 1
	for buckets < shape.most && int64(in.count)*transposeRecord/int64(buckets) > shape.each && buckets < nodes {
		buckets *= 2
	}
	shift := max(bits.Len(uint(max(nodes, 1)-1))-bits.Len(uint(buckets-1)), 0)
	spill := extsort.NewSpill(d.fs, d.w.Dir(), shape.held)
	defer func() { err = errors.Join(err, spill.Close()) }()
	part := extsort.NewPartition(spill, buckets, extentBytes, uint(shift))
	defer part.Close()
	writers := make([]*extsort.Writer, d.opt.Threads)
	for i := range writers {
		if writers[i], err = part.Writer(); err != nil {
			return err
		}
	}
	// One writer takes one run of sources, so that the records of a bucket arrive by ascending edge id.
	from := &reader{incoming: &incoming{name: in.name, count: in.count, indptr: out.Indptr, far: out.Far}, sources: nodes, dir: d.dir}
	err = spread(ctx, len(writers), len(writers), func(ctx context.Context, _, i int) error {
		first, end := sources/len(writers)*i, sources/len(writers)*(i+1)
		if i == len(writers)-1 {
			end = sources
		}
		r := *from
		for u := first; u < end; u += blockNodes {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := r.transposeBlock(u, min(u+blockNodes, end), writers[i])
			if err != nil {
				return err
			}
			if err := d.read(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := part.Finish(); err != nil {
		return err
	}
	t, err := d.merge(ctx, part, nodes, in.count)
	if err != nil {
		return err
	}
	d.temporary = append(d.temporary, t)
	in.listed(t.data, nodes)
	return nil
}

// transposeBlock gives w a record for each edge of the sources [from, to), and returns the number of bytes that it read.
func (r *reader) transposeBlock(from, to int, w *extsort.Writer) (int, error) {
	offsets, far, err := r.block(from, to)
	if err != nil {
		return 0, err
	}
	for k := range to - from {
		for e := offsets[k]; e < offsets[k+1]; e++ {
			v := far[e-offsets[0]]
			if int(v) >= r.sources {
				return 0, r.damaged("found destination %d, expected one below %d", v, r.sources)
			}
			b, err := w.Slot(uint64(v), transposeRecord)
			if err != nil {
				return 0, err
			}
			binary.LittleEndian.PutUint32(b, v)
			binary.LittleEndian.PutUint32(b[4:], uint32(from+k))
			binary.LittleEndian.PutUint64(b[8:], e)
		}
	}
	return 8*len(offsets) + 4*len(far), nil
}

// listed sets the in-edges from the content of a temporary file.
func (in *incoming) listed(data []byte, nodes int) {
	in.indptr = graph.Index{U64: graph.View[uint64](data[:8*(nodes+1)])}
	in.id = graph.Index{U64: graph.View[uint64](data[8*(nodes+1):][:8*in.count])}
	in.far = graph.Index{U32: graph.View[uint32](data[8*(nodes+1+in.count):])}
}

// listedBytes is the size of that file.
func (in *incoming) listedBytes(nodes int) int64 {
	return 8*int64(nodes+1) + 12*int64(in.count)
}

// merge writes the offsets, edge ids and sources of all nodes to a temporary file.
func (d *dispatcher) merge(ctx context.Context, part *extsort.Partition, nodes, edges int) (_ transposed, err error) {
	f, err := d.scratch(len(d.temporary))
	if err != nil {
		return transposed{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	first := make([]int64, part.Buckets()+1) // edges before a bucket
	for b := range part.Buckets() {
		first[b+1] = first[b] + part.Bytes(b)/transposeRecord
	}
	if first[part.Buckets()] != int64(edges) {
		return transposed{}, fmt.Errorf("%s: %w: found %d edges, expected %d", d.dir, store.ErrDamaged, first[part.Buckets()], edges)
	}
	idAt, farAt := 8*int64(nodes+1), 8*int64(nodes+1+edges)
	if err := f.Truncate(farAt + 4*int64(edges)); err != nil {
		return transposed{}, err
	}
	width := 1 << part.Shift()
	err = spread(ctx, d.opt.Threads, part.Buckets(), func(_ context.Context, _, b int) error {
		from, to := b*width, min((b+1)*width, nodes)
		if from >= to {
			return nil
		}
		records := make([]byte, part.Bytes(b))
		if _, err := part.Load(b, records); err != nil {
			return err
		}
		part.Free(b)
		ptr := make([]uint64, to-from+1)
		for at := 0; at < len(records); at += transposeRecord {
			ptr[int(binary.LittleEndian.Uint32(records[at:]))-from+1]++
		}
		for i := range ptr[1:] {
			ptr[i+1] += ptr[i]
		}
		n := len(records) / transposeRecord
		ids, far := make([]uint64, n), make([]uint32, n)
		for at := 0; at < len(records); at += transposeRecord {
			p := &ptr[int(binary.LittleEndian.Uint32(records[at:]))-from]
			far[*p] = binary.LittleEndian.Uint32(records[at+4:])
			ids[*p] = binary.LittleEndian.Uint64(records[at+8:])
			*p++
		}
		// Each offset has become the offset of the next node.
		for i := range ptr[:to-from] {
			ptr[i] += uint64(first[b])
		}
		for _, x := range []struct {
			data []byte
			at   int64
		}{{graph.Bytes(ptr[:to-from]), 8 * int64(from+1)}, {graph.Bytes(ids), idAt + 8*first[b]}, {graph.Bytes(far), farAt + 4*first[b]}} {
			if _, err := f.WriteAt(x.data, x.at); err != nil {
				return fmt.Errorf("temporary file in %s: %w", d.w.Dir(), err)
			}
		}
		return nil
	})
	if err != nil {
		return transposed{}, err
	}
	if name := d.listed(len(d.temporary)); name != "" {
		if s := vfs.SenderOf(d.fs, name); s != nil {
			if err := s.Send(name, f, true); err != nil {
				return transposed{}, err
			}
		}
	}
	data, unmap, err := f.Map()
	return transposed{data, unmap}, err
}

// scratch makes the temporary file of the nth edge type that is transposed.
func (d *dispatcher) scratch(n int) (vfs.File, error) {
	name := d.listed(n)
	if name == "" || vfs.SenderOf(d.fs, name) != nil {
		return d.fs.Temp(d.w.Dir())
	}
	f, err := d.fs.Create(name)
	if err != nil {
		return nil, err
	}
	return synced{f}, nil
}

// listed is the file of the nth edge type that is transposed, for other processes; "" where there are none.
func (d *dispatcher) listed(n int) string {
	if d.listsDir == "" {
		return ""
	}
	return filepath.Join(d.listsDir, transposedFile(n))
}

func transposedFile(n int) string { return fmt.Sprintf("transposed-%d.bin", n) }

// openTransposed maps what another process transposed, by the same store.
func (d *dispatcher) openTransposed() error {
	for i, e := range d.g.Edges {
		in := d.edges[i]
		if e.Adj[graph.In] != nil {
			continue
		}
		data, unmap, err := mapFile(d.fs, filepath.Join(d.listsDir, transposedFile(len(d.temporary))))
		if err != nil {
			return err
		}
		d.temporary = append(d.temporary, transposed{data, unmap})
		nodes := d.g.Nodes[in.dst].Count
		if int64(len(data)) != in.listedBytes(nodes) {
			return errPlaces
		}
		in.listed(data, nodes)
	}
	return nil
}

// releaseAll gives back the memory of all mapped pages.
func (d *dispatcher) releaseAll() error {
	err := d.store.Release()
	for _, t := range d.temporary {
		err = errors.Join(err, vfs.Release(t.data))
	}
	return err
}
