package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/wordmap"
)

// Sampling makes the subgraphs of batches of answers of the hosts. It serves one goroutine at a time.
type Sampling struct {
	client  *Client
	session *Session
	s       *sample.Sampler // with sample.Options.Given
	context *sample.Context
	ops     []answers // by op, op 0 unused
	next    [][]int   // by op, op 0 included: the ops that start from it
	near    []int     // by op: the node type that it expands
	inputs  []sample.Input
	posts   []post // by host
	at      uint32 // the subgraph that the kernel makes
	err     error
}

// answers are the edges that an op takes of nodes in the subgraphs of a batch.
type answers struct {
	asked  keySet   // subgraph << 32 | node
	first  []uint32 // by place in asked: the first of its edges in far
	counts []uint32
	far    []uint32
	ids    graph.Index
	done   int // nodes that were asked for
}

// post is a frame to a host, and what it asks for: sections of an op each, of places in asked.
type post struct {
	frame    []byte
	sections []postSection
	places   []uint32
	nodes    uint64 // in frames, by weight
}

type postSection struct{ op, n int }

// NewSampling returns a sampling of a plan, which was compiled with sample.Options.Given.
func NewSampling(c *Client, s *sample.Sampler) *Sampling {
	p, g := s.Plan(), s.Graph()
	n := len(p.Ops) + 1
	x := &Sampling{client: c, session: c.NewSession(), s: s, context: s.NewContext(), ops: make([]answers, n), next: make([][]int, n), near: make([]int, n), posts: make([]post, c.Hosts())}
	for op := 1; op < n; op++ {
		edges, dir := s.Walk(op)
		x.near[op] = g.NodeType(g.Edges[edges].Type.Near(dir))
		if p.Ops[op-1].Take == 0 {
			continue
		}
		for _, from := range slices.Compact(slices.Sorted(slices.Values(p.Ops[op-1].From))) {
			x.next[from] = append(x.next[from], op)
		}
	}
	return x
}

// Until is Session.Until.
func (x *Sampling) Until(ctx context.Context) { x.session.Until(ctx) }

// Fetch asks the hosts for the edges of the subgraphs of inputs. Sample then makes each. The inputs are used until the next Fetch.
func (x *Sampling) Fetch(inputs []sample.Input) error {
	if uint64(len(inputs)) > math.MaxUint32 {
		return fmt.Errorf("found %d subgraphs in a batch, expected fewer than 2^32", len(inputs))
	}
	x.inputs = inputs
	for i := range x.ops {
		a := &x.ops[i]
		a.asked.reset()
		a.first, a.counts, a.far, a.ids, a.done = a.first[:0], a.counts[:0], a.far[:0], sample.EmptyIDs(a.ids), 0
	}
	for sub, in := range inputs {
		if err := x.context.Begin(in); err != nil {
			return err
		}
		for _, op := range x.next[0] {
			for _, v := range x.context.Visited(x.near[op]) {
				x.ops[op].asked.add(uint64(sub)<<32 | uint64(v))
			}
		}
	}
	for _, wave := range x.s.Waves() {
		for more := true; more; {
			var err error
			if more, err = x.askWave(wave[0], wave[1]); err != nil {
				return err
			}
		}
		for op := wave[0]; op < wave[1]; op++ {
			x.follow(op)
		}
	}
	return nil
}

// follow adds what an op reached to the nodes that later ops expand.
func (x *Sampling) follow(op int) {
	a := &x.ops[op]
	for place, key := range a.asked.keys {
		sub := key &^ math.MaxUint32
		for _, v := range a.far[a.first[place]:][:a.counts[place]] {
			for _, next := range x.next[op] {
				x.ops[next].asked.add(sub | uint64(v))
			}
		}
	}
}

// askedWeight bounds what a frame asks for: about the edges of the answer.
const askedWeight = 4 << 20

// mostTake is the number of edges that is reckoned for a node of which all are taken.
const mostTake = 1 << 10

// askWave asks for the next nodes of the ops from first to end, and says whether there are more.
func (x *Sampling) askWave(first, end int) (more bool, err error) {
	for i := range x.posts {
		p := &x.posts[i]
		p.frame, p.sections, p.places, p.nodes = newFrame(p.frame, kindDraws), p.sections[:0], p.places[:0], 0
	}
	for op := first; op < end && !more; op++ {
		more = x.post(op)
	}
	frames := make([][]byte, len(x.posts))
	for i := range x.posts {
		if p := &x.posts[i]; len(p.places) > 0 {
			frames[i] = endFrame(p.frame)
		}
	}
	got, err := x.session.Ask(kindDraws, frames)
	if err != nil {
		return false, err
	}
	for i := range x.posts {
		if frames[i] == nil {
			continue
		}
		if err := x.take(&x.posts[i], got[i]); err != nil {
			return false, fmt.Errorf("host %s: %w; use the same version of graphmill on all machines", x.client.addresses[i], err)
		}
	}
	return more, nil
}

// post adds the nodes of an op that were not asked for to the frames. It says whether a frame is full.
func (x *Sampling) post(op int) (full bool) {
	a, of := &x.ops[op], &x.client.nodes[x.near[op]]
	weight := 1 + uint64(min(x.s.Picks(op, mostTake), mostTake))
	sub, heads := int64(-1), make([]int, len(x.posts)) // the place of the head of each host's section of the subgraph
	var in sample.Input
	var key uint64
	a.first, a.counts = slices.Grow(a.first, len(a.asked.keys)-a.done)[:len(a.asked.keys)], slices.Grow(a.counts, len(a.asked.keys)-a.done)[:len(a.asked.keys)]
	for ; a.done < len(a.asked.keys); a.done++ {
		k := a.asked.keys[a.done]
		if s := int64(k >> 32); s != sub {
			sub, in = s, x.inputs[s]
			key = x.s.Key(in, op)
			clear(heads)
		}
		host := of.of(k & math.MaxUint32)
		p := &x.posts[host]
		if p.nodes += weight; p.nodes > askedWeight && len(p.places) > 0 {
			return true
		}
		if heads[host] == 0 {
			heads[host] = len(p.frame)
			p.frame = appendDrawsHead(p.frame, op, key, in.Time)
			p.sections = append(p.sections, postSection{op: op})
		}
		p.frame = binary.LittleEndian.AppendUint32(p.frame, uint32(k))
		p.places = append(p.places, uint32(a.done))
		section := &p.sections[len(p.sections)-1]
		section.n++
		binary.LittleEndian.PutUint32(p.frame[heads[host]+4:], uint32(section.n))
	}
	return false
}

// appendDrawsHead appends the head of a section of draws, which has no nodes yet: u32 op, u32 n, u64 key of the draws, u64 bits of the time of the seed, u32 whether it is a float,
// u32 0. n nodes follow. The answer has n counts, the far ends of all edges, and their ids: of 64 bits where the edge type is wide.
func appendDrawsHead(frame []byte, op int, key uint64, time sample.Time) []byte {
	i, f, float := time.Number()
	bits, isFloat := uint64(i), uint32(0)
	if float {
		bits, isFloat = math.Float64bits(f), 1
	}
	frame = binary.LittleEndian.AppendUint32(frame, uint32(op))
	frame = binary.LittleEndian.AppendUint32(frame, 0)
	frame = binary.LittleEndian.AppendUint64(frame, key)
	frame = binary.LittleEndian.AppendUint64(frame, bits)
	return binary.LittleEndian.AppendUint64(frame, uint64(isFloat))
}

// take takes the answer to a post.
func (x *Sampling) take(p *post, answer []byte) error {
	in, g, places := reader{b: answer}, x.s.Graph(), p.places
	for _, section := range p.sections {
		edges, dir := x.s.Walk(section.op)
		of := g.Edges[edges]
		a := &x.ops[section.op]
		counts := reader{b: in.take(4 * uint64(section.n))}
		first, total := uint64(len(a.far)), uint64(0)
		for _, place := range places[:section.n] {
			a.counts[place] = counts.u32()
			a.first[place] = uint32(first + total)
			total += uint64(a.counts[place])
		}
		if first+total > math.MaxUint32 {
			return fmt.Errorf("found %d edges of an op in a batch, expected fewer than 2^32; take smaller batches", first+total)
		}
		places = places[section.n:]
		a.far = appendNumbers(a.far, in.take(4*total))
		if x.s.Wide(edges) {
			a.ids.U64 = appendNumbers(a.ids.U64, in.take(8*total))
		} else {
			a.ids.U32 = appendNumbers(a.ids.U32, in.take(4*total))
		}
		if in.failed || counts.failed {
			return fmt.Errorf("found an answer of %d bytes, expected more: %w", len(answer), errProtocol)
		}
		far := uint32(g.Nodes[g.NodeType(of.Type.Far(dir))].Count)
		for _, v := range a.far[first:] {
			if v >= far {
				return fmt.Errorf("%s: found neighbour %d, expected one below %d: %w", of.Type, v, far, errProtocol)
			}
		}
		if first := int(first); a.ids.Len() != len(a.far) || !idsBelow(a.ids, first, uint64(of.Count)) {
			return fmt.Errorf("%s: found an edge id of %d or more: %w", of.Type, of.Count, errProtocol)
		}
	}
	if len(in.b) > 0 {
		return fmt.Errorf("found %d bytes after an answer, expected none: %w", len(in.b), errProtocol)
	}
	return nil
}

// idsBelow says whether all ids from a place on are below n.
func idsBelow(ids graph.Index, from int, n uint64) bool {
	for i := from; i < ids.Len(); i++ {
		if ids.At(i) >= n {
			return false
		}
	}
	return true
}

// Sample makes the subgraph of an input of Fetch, which is valid until the next call.
func (x *Sampling) Sample(input int) (*sample.Subgraph, error) {
	x.at, x.err = uint32(input), nil
	sub, err := x.context.SampleGiven(x.inputs[input], x)
	if err == nil {
		err = x.err
	}
	return sub, err
}

// place is the place of a node in the answers of an op.
func (x *Sampling) place(op int, v uint32) (place uint32, ok bool) {
	place, ok = x.ops[op].asked.places.Get(uint64(x.at)<<32 | uint64(v))
	if !ok && x.s.Plan().Ops[op-1].Take != 0 {
		x.err = fmt.Errorf("found no answer for node %d of op %d, expected one for each node that an op expands", v, op)
	}
	return place, ok
}

// Counts implements sample.Given.
func (x *Sampling) Counts(op int, nodes, counts []uint32) {
	for i, v := range nodes {
		counts[i] = 0
		if place, ok := x.place(op, v); ok {
			counts[i] = x.ops[op].counts[place]
		}
	}
}

// Ends implements sample.Given.
func (x *Sampling) Ends(op int, nodes, far []uint32, ids graph.Index) {
	a, at := &x.ops[op], 0
	for _, v := range nodes {
		place, ok := x.place(op, v)
		if !ok {
			continue
		}
		first, n := int(a.first[place]), int(a.counts[place])
		copy(far[at:], a.far[first:first+n])
		if ids.U64 != nil {
			copy(ids.U64[at:], a.ids.U64[first:first+n])
		} else if ids.U32 != nil {
			copy(ids.U32[at:], a.ids.U32[first:first+n])
		}
		at += n
	}
}

// keySet is a set of numbers, in the order in which they came.
type keySet struct {
	keys   []uint64
	places wordmap.Map
}

func (k *keySet) reset() {
	k.keys = k.keys[:0]
	k.places.Clear()
}

// add adds a number, and returns its place.
func (k *keySet) add(key uint64) uint32 {
	place, added := k.places.Put(key, uint32(len(k.keys)))
	if added {
		k.keys = append(k.keys, key)
	}
	return place
}
