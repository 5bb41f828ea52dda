package cluster

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/stages"
)

// Bytes of an output, about, beside the columns. Collections have a global id per node, and per edge its ends and its id.
const (
	nodeBytes      = 4
	edgeBytes      = 8
	edgeIDBytes    = 4
	exampleBytes   = 5 // of a node and an edge in an Example, without columns
	gzipShare      = 3
	requestedHead  = 3 // of a request
	answeredHead   = 4 // of an answer, beside its edges
	offsetBytes    = 4 // of a node in the offsets of the ranges that a worker keeps
	wantedRowBytes = 4
)

// foresee refuses a job that cannot run.
func (r *Run) foresee(s *Site, job *sample.Job) (err error) {
	defer guard.Catch(&err)()
	warning, err := stages.Foresee(r.FS, []string{r.Dir}, s.division.Stages, r.need(s, job), r.Options.Memory)
	if warning != "" && r.Options.Warn != nil {
		r.Options.Warn(warning)
	}
	return err
}

// need is about what a job takes.
func (r *Run) need(s *Site, job *sample.Job) stages.Need {
	w, x := s.Work, r.expect(s.sampler, job)
	need := stages.Need{Divide: "take a share of the seeds by `Rank`"}
	records := 0.0
	for i := range s.sampler.Plan().Ops {
		if op := i + 1; w.Method == Shuffle && s.steps.stage[op] > 0 {
			records += x.from[i]*(requestedHead+answeredHead) + x.drawn[i]*float64(s.steps.width[op]+s.steps.idWidth[op])
		}
	}
	if len(s.tables) > 0 { // a group asks for a row once
		all := 0
		for _, n := range s.graph().Nodes {
			all += n.Count
		}
		records += min(x.nodes, float64(w.Groups())*float64(all)) * (wantedRowBytes + float64(r.rowBytes()))
	}
	need.Records, need.Pieces, need.Output = whole(records), x.output, x.output
	if w.Method == Shuffle {
		need.Memory = 2 * stages.Held(need.Records, w.Share)
		for _, walk := range s.steps.walks {
			need.Memory += offsetBytes * min(int64(walk.count), int64(walk.nodes)*keptRanges)
		}
	}
	return need
}

// expected is about what a job draws.
type expected struct {
	from, drawn []float64 // by op: the nodes that it starts from, and the edges
	nodes       float64   // of all subgraphs
	output      int64     // bytes of the output, without a copy of it in pieces
}

// expect is about what a job draws. Drawn edges follow from the numbers of edges of some nodes.
func (r *Run) expect(m *sample.Sampler, job *sample.Job) (x expected) {
	p, g := m.Plan(), m.Graph()
	width := m.SeedWidth()
	batches, epochs := job.EpochBatches(width), float64(max(job.Epochs, 1))
	seeds := float64(min(uint64(len(job.Seeds)/width), batches*uint64(job.BatchSize))) * epochs
	scopes := epochs // of which each has a node once
	switch p.Scope {
	case sample.ScopeSeed:
		scopes = seeds
	case sample.ScopeBatch:
		scopes *= float64(batches)
	}
	found := []float64{seeds * float64(width)}
	if p.Negatives != nil {
		found[0] += seeds * float64(p.Negatives.Most())
	}
	edges, ids := 0.0, false
	x.nodes = found[0]
	for i := range p.Ops {
		o, op := &p.Ops[i], i+1
		e, dir := m.Walk(op)
		far := g.Nodes[g.NodeType(g.Edges[e].Type.Far(dir))].Count
		from, drawn := 0.0, 0.0
		for _, f := range o.From {
			starts := startsAt(m, f, op, job)
			from += found[f] * starts.share
			drawn += found[f] * starts.share * taken(g.Edges[e].Adj[dir], starts.nodes, o.Take)
		}
		ids = ids || needsIDs(m, r.Work.Records, e)
		edges += drawn
		x.from, x.drawn = append(x.from, from), append(x.drawn, drawn)
		found = append(found, min(drawn, scopes*float64(far)))
		x.nodes += found[op]
	}
	var output float64
	if records := r.Work.Records; records != nil {
		output = x.nodes*nodeBytes/2 + edges*exampleBytes/2 + (x.nodes+edges)/2*float64(r.rowBytes())
		if records.Gzip {
			output /= gzipShare
		}
	} else {
		output = x.nodes*nodeBytes + edges*edgeBytes
		if ids {
			output += edges * edgeIDBytes
		}
	}
	x.output = whole(output)
	return x
}

// starts are some of the nodes from which an op starts, evenly spaced, and the share of all nodes of the op before that are of its type.
type starts struct {
	nodes []uint32
	share float64
}

// lookedAt is the number of nodes whose edges a forecast counts.
const lookedAt = 1 << 10

// startsAt is where an op starts that follows op f: at seeds, or at the far ends of edges, which hubs have more of.
func startsAt(m *sample.Sampler, f, op int, job *sample.Job) (x starts) {
	g := m.Graph()
	e, dir := m.Walk(op)
	near := g.Edges[e].Type.Near(dir)
	if f > 0 {
		x.share = 1
		e, dir := m.Walk(f)
		if adj := g.Edges[e].Adj[dir]; adj != nil {
			for n, step := adj.Far.Len(), max(adj.Far.Len()/lookedAt, 1); n > 0; n -= step {
				x.nodes = append(x.nodes, uint32(adj.Far.At(n-1)))
			}
		}
		return x
	}
	types := m.Plan().SeedType
	for i, t := range types {
		if t != near {
			continue
		}
		x.share += 1 / float64(len(types))
		for n, step := i, max(len(job.Seeds)/len(types)/lookedAt, 1)*len(types); n < len(job.Seeds); n += step {
			x.nodes = append(x.nodes, job.Seeds[n])
		}
	}
	return x
}

// taken is the edges that an op takes on average at some nodes; take is negative for all.
func taken(adj *graph.Adjacency, nodes []uint32, take int) float64 {
	if adj == nil || len(nodes) == 0 {
		return 0
	}
	sum := uint64(0)
	for _, v := range nodes {
		if int(v)+1 >= adj.Indptr.Len() {
			continue // of a damaged store
		}
		n := max(adj.Indptr.At(int(v)+1), adj.Indptr.At(int(v))) - adj.Indptr.At(int(v))
		if take >= 0 {
			n = min(n, uint64(take))
		}
		sum += n
	}
	return float64(sum) / float64(len(nodes))
}

// whole is a number of bytes; very many are about 10^18.
func whole(bytes float64) int64 { return int64(min(bytes, 1<<60)) }
