package outofcore

import (
	"math"

	"github.com/graphmill/graphmill/internal/sample"
)

// demand is what a batch of a job takes: as a pilot found it or, without one, the most that the plan allows.
type demand struct {
	job   pilotJob
	edges float64     // sampled edges
	first float64     // in the first wave
	perOp []float64   // of each op, from 1
	asks  [][]float64 // requests by wave and file; each lies in one page or a few
	// spread is, by block, the share of the seeds' requests to its file that the block has. It is nil where they are
	// spread evenly.
	spread []float64
}

// pilotJob is the part of a job that a pilot depends on.
type pilotJob struct {
	seeds   *uint32
	n, size int
}

func pilotOf(job *sample.Job) pilotJob {
	if len(job.Seeds) == 0 {
		return pilotJob{}
	}
	return pilotJob{&job.Seeds[0], len(job.Seeds), job.BatchSize}
}

// by says whether a pilot of the job found d.
func (d *demand) by(job *sample.Job) bool { return d.job.seeds != nil && d.job == pilotOf(job) }

// edgesOf is the sampled edges of a batch in a wave, given as its first op and the op after its last.
func (d *demand) edgesOf(wave [2]int) float64 {
	n := 0.0
	for op := wave[0]; op < wave[1]; op++ {
		n += d.perOp[op]
	}
	return n
}

// most is an upper bound of the edges that n seeds draw in the first waves of the plan.
func (n *neighbours) most(seeds float64, waves int) float64 {
	sum := 0.0
	for _, edges := range n.reach(seeds, waves)[1:] {
		sum += edges
	}
	return sum
}

// reach is most by op, from 1.
func (n *neighbours) reach(seeds float64, waves int) []float64 {
	plan := n.sampler.Plan()
	reach := make([]float64, n.ops+1)
	reach[0] = seeds
	for op := 1; op <= n.ops && n.waveOf[op] < waves; op++ {
		from := 0.0
		for _, f := range plan.Ops[op-1].From {
			if f == 0 {
				from += seeds * n.endsOf(op)
			} else {
				from += reach[f]
			}
		}
		edges := float64(n.fileOf[op].edges)
		if plan.Ops[op-1].Take == sample.All {
			reach[op] = edges
			if plan.Scope == sample.ScopeSeed {
				reach[op] *= seeds
			}
		} else {
			reach[op] = from * float64(plan.Ops[op-1].Take)
		}
	}
	return reach
}

// endsOf is the most nodes per seed that op 0 visits for an op: the ends of a link, and the drawn ends of its
// negatives.
func (n *neighbours) endsOf(op int) float64 {
	s := n.sampler
	plan, ends := s.Plan(), 0
	edges, dir := s.Walk(op)
	near := s.Graph().Edges[edges].Type.Near(dir)
	for end, t := range plan.SeedType {
		if t == near {
			ends++
			if s.NegativeNodes(end, 1) != nil {
				ends += plan.Negatives.Most()
			}
		}
	}
	return float64(ends)
}

// bounds is the most that a batch takes.
func (n *neighbours) bounds(job *sample.Job) demand {
	d := demand{perOp: n.reach(float64(job.BatchSize), len(n.waves))}
	for _, edges := range d.perOp[1:] {
		d.edges += edges
	}
	for _, w := range n.waves {
		asks := make([]float64, len(n.files))
		for op := w[0]; op < w[1]; op++ {
			for i, file := range n.files {
				if file == n.fileOf[op] {
					asks[i] += d.perOp[op]
				}
			}
		}
		d.asks = append(d.asks, asks)
	}
	return d
}

// negativeNodes is the number of nodes whose mean stands for the drawn ends of negatives.
const negativeNodes = 1 << 12

// perLink is about the edges that the first wave takes of the negatives of a link. It reads no file.
func (n *neighbours) perLink() float64 {
	s, sum := n.sampler, 0.0
	plan, g := s.Plan(), s.Graph()
	if plan.Negatives == nil || len(n.waves) == 0 {
		return 0
	}
	for end, t := range plan.SeedType {
		nodes := s.NegativeNodes(end, negativeNodes)
		for op := n.waves[0][0]; op < n.waves[0][1]; op++ {
			edges, dir := s.Walk(op)
			if len(plan.Ops[op-1].From) == 0 || t != g.Edges[edges].Type.Near(dir) {
				continue
			}
			for _, v := range nodes {
				sum += plan.Negatives.Each * float64(s.Picks(op, s.Degree(op, v))) / negativeNodes
			}
		}
	}
	return sum
}

// taken is about the edges that the first wave takes of seeds and of their negatives. It reads no file.
func (n *neighbours) taken(seeds []uint32) float64 {
	s, sum := n.sampler, 0.0
	plan, g := s.Plan(), s.Graph()
	for op := n.waves[0][0]; op < n.waves[0][1]; op++ {
		edges, dir := s.Walk(op)
		for i, v := range seeds {
			if t := plan.SeedType[i%len(plan.SeedType)]; len(plan.Ops[op-1].From) > 0 && t == g.Edges[edges].Type.Near(dir) && int(v) < g.Nodes[g.NodeType(t)].Count {
				sum += float64(s.Picks(op, s.Degree(op, v)))
			}
		}
	}
	return sum + float64(len(seeds)/s.SeedWidth())*n.links
}

// average is the edges that the first wave takes per seed, over the first batches.
func (n *neighbours) average(batches *sample.Batches) float64 {
	var b sample.Batch
	sum, seeds := 0.0, 0
	for i := uint64(0); i < batches.Len() && seeds < pilotSeeds; i++ {
		batches.Get(i, &b)
		sum += n.taken(b.Seeds)
		seeds += len(b.Seeds) / n.sampler.SeedWidth()
	}
	return sum / float64(max(seeds, 1))
}

// spread finds the blocks where the edges of the seeds lie: see demand.
func (n *neighbours) spread(job *sample.Job) []float64 {
	s := n.sampler
	width, plan := s.SeedWidth(), s.Plan()
	step := width * (len(job.Seeds)/width/pilotSpread + 1)
	counts := make([]float64, n.blocks)
	for op := n.waves[0][0]; op < n.waves[0][1]; op++ {
		edges, dir := s.Walk(op)
		near, offsets, f := s.Graph().Edges[edges].Type.Near(dir), s.Offsets(op), n.fileOf[op]
		for end, t := range plan.SeedType {
			if t != near {
				continue
			}
			for i := end; i < len(job.Seeds); i += step {
				if v := job.Seeds[i]; int(v)+1 < offsets.Len() && offsets.At(int(v)) < offsets.At(int(v)+1) {
					counts[f.first+f.block(offsets.At(int(v)))]++
				}
			}
		}
	}
	for _, f := range n.files {
		part, sum := counts[f.first:f.first+f.blocks], 0.0
		for _, n := range part {
			sum += n
		}
		for i := range part {
			part[i] /= max(sum, 1)
		}
	}
	return counts
}

// asked counts the requests of a stage by file.
func (n *neighbours) asked(st *stage) []float64 {
	asks := make([]float64, len(n.files))
	for i, f := range n.files {
		count := 0
		for b := f.first; b < f.first+f.blocks; b++ {
			for _, l := range st.lists {
				count += l.count(b, math.MaxInt) + l.count(n.blocks+b, math.MaxInt)
			}
		}
		asks[i] = float64(count)
	}
	return asks
}
