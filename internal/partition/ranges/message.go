package ranges

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Messages as bytes: the number of items (8 bytes), the items, then the sizes or weights. All numbers are little-endian.

// ErrMessage is the kind of errors about the bytes of a message.
var ErrMessage = errors.New("damaged message")

// reader reads numbers. Bytes that are missing read as zeros, and are an error at the end.
type reader struct {
	bytes []byte
	short bool
}

func (r *reader) next(n int) []byte {
	if n > len(r.bytes) {
		r.short, r.bytes = true, nil
		return make([]byte, n)
	}
	b := r.bytes[:n]
	r.bytes = r.bytes[n:]
	return b
}

func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.next(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.next(8)) }

// count reads the number of items that take a number of bytes each, which the message must have.
func (r *reader) count(size int) int {
	n := r.u64()
	if n > uint64(len(r.bytes)/size) {
		r.short = true
		return 0
	}
	return int(n)
}

func (r *reader) end(what string) error {
	if r.short || len(r.bytes) > 0 {
		return fmt.Errorf("%s: %w: found fewer or more bytes than its number of items takes; use the same version on all machines", what, ErrMessage)
	}
	return nil
}

func appendWords(b []byte, words []uint32) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func (r *reader) words(n int) []uint32 {
	if n == 0 {
		return nil
	}
	words := make([]uint32, n)
	for i := range words {
		words[i] = r.u32()
	}
	return words
}

// Append appends the message.
func (m *Proposals) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Items)))
	for _, x := range m.Items {
		b = appendWords(b, []uint32{x.Target, x.Node, x.Weight})
	}
	return appendWords(b, m.Sizes)
}

// ParseProposals reads what Proposals.Append wrote.
func (p *Plan) ParseProposals(b []byte) (m Proposals, err error) {
	r := &reader{bytes: b}
	n := r.count(12 + 4*p.stride())
	for range n {
		x := Proposal{r.u32(), r.u32(), r.u32()}
		if int(x.Target) >= p.Nodes || int(x.Node) >= p.Nodes {
			return m, fmt.Errorf("proposals: %w: found node %d that proposes to %d, expected nodes below %d; use the same version on all machines", ErrMessage, x.Node, x.Target, p.Nodes)
		}
		m.Items = append(m.Items, x)
	}
	m.Sizes = r.words(n * p.stride())
	return m, r.end("proposals")
}

// Append appends the message.
func (m *Joins) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Items)))
	for _, x := range m.Items {
		b = appendWords(b, []uint32{x.Node, x.To})
	}
	return appendWords(b, m.Sizes)
}

// ParseJoins reads what Joins.Append wrote.
func (p *Plan) ParseJoins(b []byte) (m Joins, err error) {
	r := &reader{bytes: b}
	n := r.count(8 + 4*p.stride())
	for range n {
		x := Join{r.u32(), r.u32()}
		if int(x.Node) >= p.Nodes || int(x.To) >= p.Nodes {
			return m, fmt.Errorf("joins: %w: found node %d that joins %d, expected nodes below %d; use the same version on all machines", ErrMessage, x.Node, x.To, p.Nodes)
		}
		m.Items = append(m.Items, x)
	}
	m.Sizes = r.words(n * p.stride())
	return m, r.end("joins")
}

// AppendPairs appends a message of pairs.
func AppendPairs(b []byte, pairs []Pair) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(pairs)))
	for _, x := range pairs {
		b = appendWords(b, []uint32{x.A, x.B, x.Weight})
	}
	return b
}

// ParsePairs reads what AppendPairs wrote: ascending pairs of clusters, which have a number of clusters.
func ParsePairs(b []byte, clusters int) (pairs []Pair, err error) {
	r := &reader{bytes: b}
	pairs = make([]Pair, r.count(12))
	for i := range pairs {
		x := Pair{r.u32(), r.u32(), r.u32()}
		if x.A >= x.B || int(x.B) >= clusters || i > 0 && comparePairs(pairs[i-1], x) >= 0 {
			return nil, fmt.Errorf("pairs: %w: found clusters %d and %d, expected ascending pairs below %d; use the same version on all machines", ErrMessage, x.A, x.B, clusters)
		}
		pairs[i] = x
	}
	return pairs, r.end("pairs")
}

// Append appends the moves that a range wants, for a worker that ends before they are decided. Their demand is with the histogram.
func (m *Wants) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Items)))
	for _, x := range m.Items {
		b = binary.LittleEndian.AppendUint32(b, x.Node)
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, x.To), x.Key)
	}
	return appendWords(b, m.Sizes)
}

// ParseWants reads what Wants.Append wrote.
func (p *Plan) ParseWants(b []byte) (m Wants, err error) {
	r := &reader{bytes: b}
	n := r.count(8 + 4*p.stride())
	for range n {
		x := Want{r.u32(), r.u16(), r.u16()}
		if int(x.Node) >= p.Nodes || int(x.To) >= p.Parts {
			return m, fmt.Errorf("wants: %w: found node %d that wants to move to part %d, expected nodes below %d and parts below %d; use the same version on all machines", ErrMessage, x.Node, x.To, p.Nodes, p.Parts)
		}
		m.Items = append(m.Items, x)
	}
	m.Sizes = r.words(n * p.stride())
	return m, r.end("wants")
}

// Append appends the message. The bits of the demand come after the bins.
func (h *Histogram) Append(b []byte, demand []bool) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(h.Bins)))
	for _, x := range h.Bins {
		b = appendWords(b, []uint32{x.number()})
	}
	for _, w := range h.Weights {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	bits := make([]byte, (len(demand)+7)/8)
	for i, wanted := range demand {
		if wanted {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return append(b, bits...)
}

// ParseHistogram reads what Histogram.Append wrote.
func (p *Plan) ParseHistogram(b []byte) (m Histogram, demand []bool, err error) {
	r := &reader{bytes: b}
	n := r.count(4 + 8*p.Constraints)
	for range n {
		x := r.u32()
		bin := Bin{uint16(x >> 16), uint16(x)}
		if int(bin.Part) >= p.Parts || len(m.Bins) > 0 && m.Bins[len(m.Bins)-1].number() >= x {
			return m, nil, fmt.Errorf("histogram: %w: found a bin of part %d, expected ascending ones below %d; use the same version on all machines", ErrMessage, bin.Part, p.Parts)
		}
		m.Bins = append(m.Bins, bin)
	}
	for range n * p.Constraints {
		m.Weights = append(m.Weights, int64(r.u64()))
	}
	demand = make([]bool, p.Parts*p.Constraints)
	bits := r.next((len(demand) + 7) / 8)
	for i := range demand {
		demand[i] = bits[i/8]>>(i%8)&1 != 0
	}
	return m, demand, r.end("histogram")
}

// Append appends the message.
func (m *Moves) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Items)))
	for _, x := range m.Items {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(b, x.Node), x.To)
	}
	for _, w := range m.Shift {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	return b
}

// ParseMoves reads what Moves.Append wrote.
func (p *Plan) ParseMoves(b []byte) (m Moves, err error) {
	r := &reader{bytes: b}
	for range r.count(6) {
		x := Move{r.u32(), r.u16()}
		if int(x.Node) >= p.Nodes || int(x.To) >= p.Parts || len(m.Items) > 0 && m.Items[len(m.Items)-1].Node >= x.Node {
			return m, fmt.Errorf("moves: %w: found node %d that moves to part %d, expected ascending nodes below %d and parts below %d; use the same version on all machines", ErrMessage, x.Node, x.To, p.Nodes, p.Parts)
		}
		m.Items = append(m.Items, x)
	}
	for range p.Parts * p.Constraints {
		m.Shift = append(m.Shift, int64(r.u64()))
	}
	return m, r.end("moves")
}

// Append appends the message.
func (d Degrees) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(d)))
	for _, x := range d {
		b = appendWords(b, []uint32{x.Class})
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(x.Weight)), uint64(x.Ends))
	}
	return b
}

// ParseDegrees reads what Degrees.Append wrote.
func ParseDegrees(b []byte) (d Degrees, err error) {
	r := &reader{bytes: b}
	for range r.count(20) {
		x := DegreeClass{r.u32(), int64(r.u64()), int64(r.u64())}
		if x.Class >= undirected.DegreeClasses || len(d) > 0 && d[len(d)-1].Class >= x.Class {
			return nil, fmt.Errorf("degrees: %w: found class %d, expected ascending ones below %d; use the same version on all machines", ErrMessage, x.Class, undirected.DegreeClasses)
		}
		d = append(d, x)
	}
	return d, r.end("degrees")
}

// Merge appends the proposals of another sender.
func (m *Proposals) Merge(x *Proposals) {
	m.Items, m.Sizes = append(m.Items, x.Items...), append(m.Sizes, x.Sizes...)
}

// Merge appends the joins of another range.
func (m *Joins) Merge(x *Joins) {
	m.Items, m.Sizes = append(m.Items, x.Items...), append(m.Sizes, x.Sizes...)
}

// Deal divides proposals by the owners of their targets.
func (p *Plan) Deal(in *Proposals, ends []int) []Proposals {
	out := make([]Proposals, len(ends)-1)
	n := p.stride()
	for i, x := range in.Items {
		to := &out[Owner(ends, x.Target)]
		to.Items = append(to.Items, x)
		if n > 0 {
			to.Sizes = append(to.Sizes, in.Sizes[i*n:][:n]...)
		}
	}
	return out
}

// JoinDemand returns which parts any range demands.
func JoinDemand(all [][]bool) []bool {
	out := slices.Clone(all[0])
	for _, d := range all[1:] {
		for i, x := range d {
			out[i] = out[i] || x
		}
	}
	return out
}
