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

// need is about what a job takes. Drawn edges follow from the numbers of edges of some nodes.
func (r *Run) need(s *Site, job *sample.Job) stages.Need {
	w, p, g := s.Work, s.sampler.Plan(), s.graph()
	width := s.sampler.SeedWidth()
	seeds := float64(min(len(job.Seeds)/width, int(w.Batches)*w.BatchSize)) * float64(w.Epochs)
	scopes := float64(w.Epochs) // of which each has a node once
	switch p.Scope {
	case sample.ScopeSeed:
		scopes = seeds
	case sample.ScopeBatch:
		scopes *= float64(w.Batches)
	}
	found := []float64{seeds * float64(width)}
	if p.Negatives != nil {
		found[0] += seeds * float64(p.Negatives.Most())
	}
	records, edges, nodes, ids := 0.0, 0.0, found[0], false
	for i := range p.Ops {
		o, op := &p.Ops[i], i+1
		e, dir := s.sampler.Walk(op)
		t := g.Edges[e].Type
		far := g.Nodes[g.NodeType(t.Far(dir))].Count
		from, drawn := 0.0, 0.0
		for _, f := range o.From {
			starts := s.startsAt(f, op, job)
			from += found[f] * starts.share
			drawn += found[f] * starts.share * taken(g.Edges[e].Adj[dir], starts.nodes, o.Take)
		}
		ids = ids || s.needsIDs(e)
		if w.Method == Shuffle && s.steps.stage[op] > 0 {
			records += from*(requestedHead+answeredHead) + drawn*float64(s.steps.width[op]+s.steps.idWidth[op])
		}
		edges += drawn
		found = append(found, min(drawn, scopes*float64(far)))
		nodes += found[op]
	}
	need := stages.Need{Divide: "take a share of the seeds by `Rank`"}
	var output float64
	if w.Records != nil {
		output = nodes*nodeBytes/2 + edges*exampleBytes/2 + (nodes+edges)/2*float64(r.rowBytes())
		if w.Records.Gzip {
			output /= gzipShare
		}
	} else {
		output = nodes*nodeBytes + edges*edgeBytes
		if ids {
			output += edges * edgeIDBytes
		}
	}
	if len(s.tables) > 0 { // a group asks for a row once
		all := 0
		for _, n := range g.Nodes {
			all += n.Count
		}
		records += min(nodes, float64(w.Groups())*float64(all)) * (wantedRowBytes + float64(r.rowBytes()))
	}
	need.Records, need.Pieces, need.Output = whole(records), whole(output), whole(output)
	if w.Method == Shuffle {
		need.Memory = 2 * stages.Held(need.Records, w.Share)
		for _, walk := range s.steps.walks {
			need.Memory += offsetBytes * min(int64(walk.count), int64(walk.nodes)*keptRanges)
		}
	}
	return need
}

// starts are some of the nodes from which an op starts, evenly spaced, and the share of all nodes of the op before that are of its type.
type starts struct {
	nodes []uint32
	share float64
}

// lookedAt is the number of nodes whose edges a forecast counts.
const lookedAt = 1 << 10

// startsAt is where an op starts that follows op f: at seeds, or at the far ends of edges, which hubs have more of.
func (s *Site) startsAt(f, op int, job *sample.Job) (x starts) {
	g := s.graph()
	e, dir := s.sampler.Walk(op)
	near := g.Edges[e].Type.Near(dir)
	if f > 0 {
		x.share = 1
		e, dir := s.sampler.Walk(f)
		if adj := g.Edges[e].Adj[dir]; adj != nil {
			for n, step := adj.Far.Len(), max(adj.Far.Len()/lookedAt, 1); n > 0; n -= step {
				x.nodes = append(x.nodes, uint32(adj.Far.At(n-1)))
			}
		}
		return x
	}
	types := s.sampler.Plan().SeedType
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
