package sample

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// NegativeLists are the negatives of links, a list per link, as they were given: for a plan whose negatives are Listed.
type NegativeLists struct {
	// Nodes are the ends of the negatives as type-wise ids, source and target in turn: first the negatives of the first link, then of the second, and so on.
	Nodes []uint32
	// Targets says that Nodes are targets alone, and that a negative has the source of its link. Lists of a Batch and of an Input have both ends.
	Targets bool
	// Ends are, by link, the number of negatives up to its last one; nil where each link has as many.
	Ends []uint64
}

// Len is the number of negatives of all links.
func (l *NegativeLists) Len() int { return len(l.Nodes) / l.width() }

// Bytes is the memory that the lists take.
func (l *NegativeLists) Bytes() int64 { return 4*int64(len(l.Nodes)) + 8*int64(len(l.Ends)) }

// Empty says whether there are no lists. Lists may all be empty, too.
func (l *NegativeLists) Empty() bool { return len(l.Nodes) == 0 && len(l.Ends) == 0 }

// width is the number of ids per negative.
func (l *NegativeLists) width() int {
	if l.Targets {
		return 1
	}
	return 2
}

// span is the negatives of one of some links: the number of the first, and of the one after the last.
func (l *NegativeLists) span(link, links int) (from, to int) {
	if len(l.Ends) == 0 {
		each := l.Len() / max(links, 1)
		return link * each, (link + 1) * each
	}
	if link > 0 {
		from = int(l.Ends[link-1])
	}
	return from, int(l.Ends[link])
}

// One is the list of one of some links alone.
func (l *NegativeLists) One(link, links int) NegativeLists {
	if l.Empty() {
		return NegativeLists{}
	}
	from, to := l.span(link, links)
	out := NegativeLists{Nodes: l.Nodes[from*l.width() : to*l.width()], Targets: l.Targets}
	if len(l.Ends) > 0 {
		out.Ends = []uint64{uint64(to - from)}
	}
	return out
}

// First is the lists of the first n of some links.
func (l *NegativeLists) First(n, links int) NegativeLists {
	if n == 0 || l.Empty() {
		return NegativeLists{}
	}
	_, to := l.span(n-1, links)
	out := NegativeLists{Nodes: l.Nodes[:to*l.width()], Targets: l.Targets}
	if len(l.Ends) > 0 {
		out.Ends = l.Ends[:n]
	}
	return out
}

// Take sets l to the lists of some links of a job, given by their places among its seeds, with both ends of each negative. It reuses the buffers of l.
func (l *NegativeLists) Take(job *Job, links []uint32) {
	l.Nodes, l.Ends = l.Nodes[:0], l.Ends[:0]
	from := &job.Negatives
	if from.Empty() {
		return
	}
	for _, link := range links {
		first, end := from.span(int(link), len(job.Seeds)/2)
		if from.Targets {
			for _, target := range from.Nodes[first:end] {
				l.Nodes = append(l.Nodes, job.Seeds[2*link], target)
			}
		} else {
			l.Nodes = append(l.Nodes, from.Nodes[2*first:2*end]...)
		}
		if len(from.Ends) > 0 {
			l.Ends = append(l.Ends, uint64(len(l.Nodes)/2))
		}
	}
}

// check refuses lists that do not fit the links of a job and the negatives of a plan.
func (l *NegativeLists) check(n *Negatives, links int) error {
	switch {
	case n == nil || n.How != Listed:
		if !l.Empty() {
			return tagged.Errorf(ErrSeed, "found lists of negatives and a plan that draws them or has none, expected how listed; write \"how\": \"listed\" in the plan, or leave the lists out")
		}
		return nil
	case len(l.Ends) == 0:
		if l.Len() != n.Most()*links {
			return tagged.Errorf(ErrSeed, "found %d listed negatives for %d links, expected %d per link, as the plan says; list them for each link", l.Len(), links, n.Most())
		}
		return nil
	case len(l.Ends) != links || l.Ends[links-1] != uint64(l.Len()):
		return tagged.Errorf(ErrSeed, "found %d lists of %d negatives for %d links, expected a list per link; list the negatives of each link", len(l.Ends), l.Len(), links)
	}
	before := uint64(0)
	for i, end := range l.Ends {
		if end < before || end-before > uint64(n.Most()) {
			return tagged.Errorf(ErrSeed, "link %d: found a list of negatives from %d to %d, expected at most %d, as the plan says; raise each in the plan", i, before, end, n.Most())
		}
		before = end
	}
	return nil
}

// Unborn counts the listed negatives of a job of which an end does not exist at the time of its link, or whose own time is not known: by the columns of times of nodes in Before.
func (p *Plan) Unborn(g *graph.Graph, job *Job) (n int, err error) {
	if p.Before == nil || job.Negatives.Empty() {
		return 0, nil
	}
	var born [2]*values // by end; nil: it exists at all times
	for end, t := range p.SeedType {
		if name := p.nodeTimes(t); name != "" && (end == 1 || !job.Negatives.Targets) {
			if born[end], err = readNodeValues(g.Nodes[g.NodeType(t)], name); err != nil {
				return 0, err
			}
		}
	}
	width := job.Negatives.width()
	for link := range len(job.Times) {
		from, to := job.Negatives.span(link, len(job.Times))
		for end, v := range born {
			if v == nil {
				continue
			}
			at := v.cutAt(job.Times[link], true)
			for i := from; i < to; i++ {
				if !v.passes(uint64(job.Negatives.Nodes[(i+1)*width-2+end]), at) {
					n++
				}
			}
		}
	}
	return n, nil
}

// listNegatives takes the listed negatives of an input into the subgraph.
func (c *Context) listNegatives(in Input) error {
	if err := in.Negatives.check(c.s.plan.Negatives, len(in.Seeds)/2); err != nil {
		return err
	}
	for i, v := range in.Negatives.Nodes {
		if t := c.s.g.Nodes[c.s.seedTypes[i%2]]; int(v) >= t.Count {
			return tagged.Errorf(ErrSeed, "found a negative with node %d of type %s, expected less than %d; negatives are row numbers of the store", v, t.Type, t.Count)
		}
	}
	out := &c.sub.Negatives
	out.Nodes, out.Ends, out.Edges = append(out.Nodes[:0], in.Negatives.Nodes...), append(out.Ends[:0], in.Negatives.Ends...), 0
	return nil
}
