package ingest

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// twoTypes is the error of an id with two types.
type twoTypes struct{ error }

func (e twoTypes) Unwrap() error { return e.error }

// twoTypes is the error of an id of a row with a type, and another one before.
func (l *labelled) twoTypes(place string, id []byte, kind, other uint16) error {
	return twoTypes{sourcef("%s: found the id %.40q of the labels %s, and of %s in another row, expected one set of labels for each id; correct the file", place, id, l.types[kind].name, l.types[other].name)}
}

// readIDs finds the types of the ids of those spaces that have several, and whose ids are ends of edges without labels.
func (l *labelled) readIDs(ctx context.Context) error {
	l.ids = map[string]*idTypes{}
	for _, e := range l.edges {
		for k, space := range e.spaces {
			types := l.typesOf(space)
			if e.labels[k] != "" || l.ids[space] != nil {
				continue
			}
			if len(types) == 0 {
				if space == "" {
					return sourcef("%s: found no nodes, expected those that edges have; add their rows or files", l.path)
				}
				return sourcef("%s: found edges between ids of the id space %q, expected nodes of it; add the file of these nodes, or correct the header", e.Files()[0], space)
			}
			if len(types) == 1 {
				continue
			}
			if err := l.typesOfIDs(ctx, space); err != nil {
				return err
			}
		}
	}
	return nil
}

// typesOfIDs finds the types of the ids of a space.
func (l *labelled) typesOfIDs(ctx context.Context, space string) error {
	threads := max(l.o.Threads, 1)
	l.ids[space] = newIDTypes()
	err := l.addIDs(ctx, l.ids[space], space, threads)
	if two := (twoTypes{}); threads > 1 && errors.As(err, &two) {
		l.ids[space] = newIDTypes()
		err = l.addIDs(ctx, l.ids[space], space, 1) // the first row in order
	}
	return err
}

// addIDs adds the ids of the nodes of a space.
func (l *labelled) addIDs(ctx context.Context, x *idTypes, space string, threads int) error {
	for _, n := range l.nodes {
		if n.space != space || len(n.kinds) == 0 {
			continue
		}
		global := make([]uint16, len(n.kinds))
		for i, t := range n.kinds {
			global[i] = uint16(slices.Index(l.types, t))
		}
		_, err := n.Scan(ctx, []table.Column{keyColumn(n.id, false)}, threads, func(_ int, c *table.Chunk) error {
			ids := texts(&c.Columns[0])
			x.mu.Lock()
			defer x.mu.Unlock()
			for i, id := range ids {
				kind := global[0]
				if n.marks != nil {
					kind = global[n.marks.Kind(c.First+uint64(i))]
				}
				if other := x.add(id, kind); other != kind {
					return l.twoTypes(n.Where(c.First+uint64(i), n.id), id, kind, other)
				}
			}
			return l.checkMemory(x, n.Files()[0])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMemory refuses more ids than fit into memory.
func (l *labelled) checkMemory(x *idTypes, file string) error {
	if l.o.Memory > 0 && x.bytes() > l.o.Memory/2 {
		return sourcef("%s: found more nodes of several types than fit into half of `Memory`, with %d bytes for each: each id has one type; give more memory", file, idTypeBytes)
	}
	return nil
}

// checkEnds checks that the labels that edges have for their ends are those of the ids elsewhere. The types of all rows are known.
func (l *labelled) checkEnds(ctx context.Context) error {
	for _, e := range l.edges {
		for k, name := range []string{e.src, e.dst} {
			if e.labels[k] == "" || l.keyed || len(l.types) == 1 {
				continue
			}
			if l.ids[e.spaces[k]] == nil {
				if err := l.typesOfIDs(ctx, e.spaces[k]); err != nil {
					return err
				}
			}
			if err := l.checkEnd(ctx, e, l.ids[e.spaces[k]], name, e.labels[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEnd adds the ids of the ends in a column with the labels of another one. One goroutine finds the first row.
func (l *labelled) checkEnd(ctx context.Context, e *labelledEdges, x *idTypes, name, labels string) error {
	known := map[string]uint16{}
	_, err := e.Scan(ctx, []table.Column{keyColumn(name, false), {Name: labels, DType: graph.String}}, 1, func(_ int, c *table.Chunk) error {
		cells := &c.Columns[1]
		for i, id := range texts(&c.Columns[0]) {
			cell := cells.ID(i, graph.String)
			kind, ok := known[string(cell)]
			if !ok {
				set := labelSet(e.labelsOf(cell))
				n := slices.IndexFunc(l.types, func(t *labelledType) bool { return t.name == set })
				if n < 0 {
					return sourcef("%s: found labels that were not there before; is the file being written?", e.Where(c.First+uint64(i), name))
				}
				kind = uint16(n)
				known[string(cell)] = kind
			}
			if other := x.add(id, kind); other != kind {
				return l.twoTypes(e.Where(c.First+uint64(i), name), id, kind, other)
			}
		}
		return l.checkMemory(x, e.Files()[0])
	})
	return err
}

// idTypes has the types of ids, by a hash of 64 bits. That an edge type has the id of an end is checked when the edges are built, so that an id that is none, and has the hash of
// another, is found then.
type idTypes struct {
	mu    sync.Mutex
	hash  []uint64 // 0: empty
	types []uint16
	count int
}

// idTypeBytes is about the memory of an id.
const idTypeBytes = 14

func newIDTypes() *idTypes { return &idTypes{hash: make([]uint64, 64), types: make([]uint16, 64)} }

func (x *idTypes) bytes() int64 { return 10 * int64(len(x.hash)) }

func hashOfID(id []byte) uint64 { return max(xxh3.Hash(id), 1) }

// place is the place of a hash, or the empty one where it would be.
func (x *idTypes) place(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(x.hash)))
	for i := int(hi); ; i++ {
		if i == len(x.hash) {
			i = 0
		}
		if x.hash[i] == hash || x.hash[i] == 0 {
			return i
		}
	}
}

// add adds an id, and returns its type: the given one, unless it has another one already.
func (x *idTypes) add(id []byte, kind uint16) uint16 {
	if 4*(x.count+1) > 3*len(x.hash) {
		oldHash, oldTypes := x.hash, x.types
		x.hash, x.types = make([]uint64, len(oldHash)/2*3), make([]uint16, len(oldHash)/2*3)
		for i, h := range oldHash {
			if h != 0 {
				at := x.place(h)
				x.hash[at], x.types[at] = h, oldTypes[i]
			}
		}
	}
	h := hashOfID(id)
	at := x.place(h)
	if x.hash[at] == 0 {
		x.hash[at], x.types[at] = h, kind
		x.count++
	}
	return x.types[at]
}

// find returns the type of an id; false: there is no such id.
func (x *idTypes) find(id []byte) (uint16, bool) {
	at := x.place(hashOfID(id))
	return x.types[at], x.hash[at] != 0
}
