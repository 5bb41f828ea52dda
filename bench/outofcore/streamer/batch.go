//go:build unix

package streamer

import (
	"slices"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Batch is the layers of a batch, and the buffers of its assembly. The zero value is ready. The lists are valid until
// its next Sample.
type Batch struct {
	// Layers are the layers from the training nodes outwards. Layer l + 1 has the neighbours of layer l as nodes.
	Layers []Layer
}

// Layer is nodes and the neighbours that were sampled for each.
type Layer struct {
	Nodes []uint32 // without repeats, in the order in which they are found
	// Neighbours of Nodes[i] are those from Ptr[i] to Ptr[i+1], in the order of their draws.
	Ptr        []uint32
	Neighbours []uint32

	places []uint32 // of Nodes in the frontier
	seen   []uint32 // by place in the frontier: the tick of the last batch that has the node
	tick   uint32
}

// Edges is the number of neighbours in all layers.
func (b *Batch) Edges() int {
	n := 0
	for i := range b.Layers {
		n += len(b.Layers[i].Neighbours)
	}
	return n
}

// Sample assembles the batch of training nodes from the current epoch: the neighbours of the nodes, the neighbours of
// these, and so on for all layers. A node that is given twice is in the batch once. When most of the epoch has been
// requested, Sample begins the next epoch.
func (s *Streamer) Sample(nodes []uint32, b *Batch) error {
	if err := s.assemble(nodes, b); err != nil {
		return err
	}
	asked := s.asked.Add(int64(len(nodes)))
	if asked >= s.ahead && asked-int64(len(nodes)) < s.ahead && s.o.Ahead < 1 {
		return s.SampleNextEpoch()
	}
	return nil
}

func (s *Streamer) assemble(nodes []uint32, b *Batch) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.current
	switch {
	case e == nil:
		return ErrClosed
	case !e.sampled:
		return ErrNoEpoch
	}
	b.Layers = slices.Grow(b.Layers[:0], len(e.layers))[:len(e.layers)]
	for i := range b.Layers {
		b.Layers[i].begin(len(e.layers[i].frontier))
	}
	for _, v := range nodes {
		place, ok := e.layers[0].find(v)
		if !ok {
			return tagged.Errorf(ErrNode, "found node %d, expected one of the training nodes", v)
		}
		b.Layers[0].add(v, place)
	}
	for i := range b.Layers {
		l, r, fanout := &b.Layers[i], &e.layers[i], s.layers[i].fanout
		for _, place := range l.places {
			sampled := r.sampled[int(place)*fanout:][:fanout]
			n := fanout
			for n > 0 && sampled[n-1] == None { // after all neighbours
				n--
			}
			l.Neighbours = append(l.Neighbours, sampled[:n]...)
			l.Ptr = append(l.Ptr, uint32(len(l.Neighbours)))
		}
		if i+1 == len(b.Layers) {
			break
		}
		next, frontier := &b.Layers[i+1], &e.layers[i+1]
		for _, v := range l.Neighbours {
			place, _ := frontier.find(v) // the frontier has all of them
			next.add(v, place)
		}
	}
	return nil
}

// begin empties a layer. frontier is the number of nodes in its frontier.
func (l *Layer) begin(frontier int) {
	l.Nodes, l.places, l.Neighbours = l.Nodes[:0], l.places[:0], l.Neighbours[:0]
	l.Ptr = append(l.Ptr[:0], 0)
	if l.tick++; l.tick == 0 || len(l.seen) < frontier {
		l.seen, l.tick = make([]uint32, frontier+frontier/8), 1
	}
}

// add adds a node, unless the layer has it already.
func (l *Layer) add(v uint32, place int) {
	if l.seen[place] == l.tick {
		return
	}
	l.seen[place] = l.tick
	l.Nodes = append(l.Nodes, v)
	l.places = append(l.places, uint32(place))
}
