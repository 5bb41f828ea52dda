package metis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Read reads a graph and checks all of it.
func Read(ctx context.Context, fsys vfs.FS, name string, threads int) (_ *Graph, err error) {
	t, err := openText(fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.file.Close()) }()
	return t.read(ctx, fsys, max(threads, 1))
}

func (t *text) read(ctx context.Context, fsys vfs.FS, threads int) (*Graph, error) {
	h, err := t.header()
	if err != nil {
		return nil, err
	}
	info, err := t.file.Stat()
	if err != nil {
		return nil, err
	}
	// The counts of the header are trusted only up to the size of the file. Append grows the arrays where a
	// compressed file holds more.
	size := uint64(info.Size())
	g := &Graph{Constraints: h.constraints, Offsets: make([]uint32, 1, min(h.nodes, size)+1), Neighbours: make([]uint32, 0, min(2*h.edges, size/2+1))}
	if h.edged {
		g.EdgeWeights = make([]uint32, 0, min(2*h.edges, size/4+1))
	}
	if h.weights {
		g.Weights = make([]uint32, 0, min(h.nodes*uint64(h.constraints), size/2+1))
	}
	if h.size {
		g.Sizes = make([]uint32, 0, min(h.nodes, size/2+1))
	}
	count := counter{header: &h, name: t.name}
	if err := ordered.Run(ctx, threads, func() struct{} { return struct{}{} }, func() *block { return &block{header: &h, name: t.name} }, ordered.Stages[struct{}, *block]{
		Fill: t.fill,
		Work: func(_ context.Context, _ struct{}, b *block) error { return b.parse() },
		Sink: func(b *block) error {
			if err := count.add(b); err != nil {
				return err
			}
			g.take(b)
			return nil
		},
	}); err != nil {
		return nil, err
	}
	if err := count.end(); err != nil {
		return nil, err
	}
	return g, g.check(ctx, fsys, t.name, threads)
}

// block is a run of whole lines and their parsed content.
type block struct {
	*header
	name string
	text []byte
	line uint64 // number of line ends before the text
	// empty is the line after which all lines of the text are empty, although nodes have values; 0 if there is none.
	empty uint64

	ends       []uint32 // end of each node's neighbours
	neighbours []uint32
	edgeWeight []uint32
	weight     []uint32
	sizes      []uint32
}

// take appends a block to the graph.
func (g *Graph) take(b *block) {
	base := uint32(len(g.Neighbours))
	for _, end := range b.ends {
		g.Offsets = append(g.Offsets, base+end)
	}
	g.Neighbours = append(g.Neighbours, b.neighbours...)
	g.EdgeWeights = append(g.EdgeWeights, b.edgeWeight...)
	g.Weights = append(g.Weights, b.weight...)
	g.Sizes = append(g.Sizes, b.sizes...)
}

// cut drops the lines of nodes from the given node on, if they are empty.
func (b *block) cut(from int) bool {
	start := uint32(0)
	if from > 0 {
		start = b.ends[from-1]
	}
	if int(start) < len(b.neighbours) || b.values() > 0 {
		return false
	}
	b.ends = b.ends[:from]
	return true
}

func countLines(text []byte) uint64 { return uint64(bytes.Count(text, []byte{'\n'})) }

// lineOf returns the line number in text, from 1, of a node.
func lineOf(text []byte, node int) uint64 {
	line := uint64(0)
	for {
		line++
		if text[0] != '%' {
			if node == 0 {
				return line
			}
			node--
		}
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
}

// parse parses the lines of the block.
func (b *block) parse() error {
	b.empty = 0
	b.ends, b.neighbours, b.edgeWeight, b.weight, b.sizes = b.ends[:0], b.neighbours[:0], b.edgeWeight[:0], b.weight[:0], b.sizes[:0]
	text, lead := b.text, b.values()
	for i, line := 0, 0; i < len(text); line++ {
		if text[i] == '%' {
			i += bytes.IndexByte(text[i:], '\n') + 1
			continue
		}
		// A line has the values of the node, and then neighbours and their weights in turn.
		k := 0
		for ; ; k++ {
			for text[i] == ' ' || text[i] == '\t' || text[i] == '\r' {
				i++
			}
			if text[i] == '\n' {
				i++
				break
			}
			start, v := i, uint64(0)
			for ; text[i]-'0' < 10 && i < start+10; i++ {
				v = v*10 + uint64(text[i]-'0')
			}
			if i == start || text[i] > ' ' || v >= 1<<32 {
				found, advice := word(text[start:]), ""
				if _, err := strconv.ParseFloat(string(found), 64); err == nil && bytes.ContainsAny(found, ".eE") {
					advice = "; METIS has whole weights alone: scale and round them"
				}
				return b.bad(line, fmt.Sprintf("found %q, expected a number below 2^32%s", found, advice))
			}
			switch {
			case k < lead && k == 0 && b.size:
				b.sizes = append(b.sizes, uint32(v))
			case k < lead:
				b.weight = append(b.weight, uint32(v))
			case b.edged && (k-lead)%2 == 1:
				if v == 0 {
					return b.bad(line, "found the weight 0 of an edge, expected at least 1")
				}
				b.edgeWeight = append(b.edgeWeight, uint32(v))
			case v-1 >= b.nodes: // 0 becomes the largest number
				return b.bad(line, fmt.Sprintf("found neighbour %d, expected 1 to %d", v, b.nodes))
			default:
				b.neighbours = append(b.neighbours, uint32(v-1))
			}
		}
		switch {
		case k < lead && k == 0 && len(bytes.TrimSpace(text[i:])) == 0:
			b.empty = b.line + uint64(line) + 1
			return nil
		case k < lead:
			return b.tooFew(b.line+uint64(line)+1, k)
		case b.edged && (k-lead)%2 == 1:
			return b.bad(line, "found a neighbour without a weight, expected one after each neighbour, as fmt says")
		}
		b.ends = append(b.ends, uint32(len(b.neighbours)))
	}
	return nil
}

func (b *block) bad(line int, text string) error {
	return badf("%s:%d: %s", b.name, b.line+uint64(line)+1, text)
}

func (b *block) tooFew(line uint64, found int) error {
	return badf("%s:%d: found %d numbers, expected at least %d, as fmt says: the size and weights of the node, then its neighbours", b.name, line, found, b.values())
}

// word returns the start of a text for an error: up to the next space, shortened.
func word(b []byte) []byte {
	n := 0
	for n < len(b) && n < 40 && b[n] > ' ' {
		n++
	}
	return b[:n]
}
