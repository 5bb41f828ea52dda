package outofcore

import (
	"math"

	"github.com/graphmill/graphmill/internal/sample"
)

// shrink is the number of distinct nodes that an edge of one wave is expected to add to the next wave, until the first
// epoch shows it. Graphs with hubs have fewer. A stage that began with too many epochs only makes some of them wait.
const shrink = 0.4

// layerBudget is the memory of a run by condensed layers.
type layerBudget struct{ budget }

// limit is the bytes that layers may have, and the share of the rows.
func (b layerBudget) limit(w Window) (int64, rowShare) {
	if b.opt.Memory == 0 {
		return math.MaxInt64, givenShare(b.opt.Rows)
	}
	left, share := rowBudget(b).reserve(b.free(w.BatchEdges))
	return int64(left), share
}

// sizes estimates the bytes of an epoch's layers by wave.
func (b layerBudget) sizes() []int64 {
	plan, perOp := b.sampler.Plan(), b.need.perOp
	batches := float64(b.job.EpochBatches(b.sampler.SeedWidth()))
	sizes := make([]int64, len(b.waves))
	results := make([]float64, b.ops+1)
	for op := 1; op <= b.ops; op++ {
		distinct, visits := 0.0, 0.0
		for _, f := range plan.Ops[op-1].From {
			if f == 0 {
				visits += float64(b.job.BatchSize)
				distinct += float64(b.job.BatchSize) * batches
			} else {
				visits += perOp[f]
				distinct += results[f] * shrink
			}
		}
		nodes := float64(b.sampler.Offsets(op).Len())
		distinct = min(distinct, nodes)
		results[op] = min(distinct*perOp[op]/max(visits, 1), perOp[op]*batches)
		width := 4 + 4*float64(b.fileOf[op].idWords)
		sizes[b.waveOf[op]] += int64(results[op]*width + distinct*4 + nodes*16/cellNodes)
	}
	return sizes
}

// once is the bytes of all layers of an epoch.
func (b layerBudget) once() int64 { return sum(b.sizes()) }

func sum(sizes []int64) int64 {
	all := int64(0)
	for _, size := range sizes {
		all += size
	}
	return all
}

// together is the number of epochs that take each wave together, so that a run has as few stages as the limit allows.
// sizes are the bytes of an epoch's layers by wave. The layers of a wave are held from the request until the epoch is
// emitted: by the stages under way that have come that far, and by the stage that is emitted.
func (b layerBudget) together(sizes []int64, limit int64, epochs uint64) uint64 {
	switch {
	case b.opt.Epochs > 0:
		return uint64(b.opt.Epochs)
	case b.opt.Memory == 0:
		return 1
	}
	held := int64(0)
	for stages := uint64(1); stages <= uint64(len(sizes))+1; stages++ {
		held = 1
		for wave, size := range sizes {
			held += size * min(int64(len(sizes)-wave+1), int64(stages))
		}
		if n := (epochs + stages - 1) / stages; n <= uint64(max(limit/held, 0)) {
			return max(n, 1)
		}
	}
	return uint64(max(limit/held, 1)) // for any number of stages
}

// pays says whether condensed layers fit, and take no more sweeps than windows w do. total is the batches of the run.
func (b layerBudget) pays(w Window, total uint64) bool {
	if b.opt.Window > 0 || len(b.tables.tables()) > 0 {
		return false
	}
	sizes := b.sizes()
	limit, _ := b.limit(w)
	all := epochs(b.job, b.job.EpochBatches(b.sampler.SeedWidth()), total)
	together := b.together(sizes, limit, all)
	return sum(sizes) <= limit && (all+together-1)/together <= (total+w.Batches-1)/w.Batches
}

// epochs is the number of epochs that have some of a job's batches. each is the batches of an epoch, total the batches of
// the job.
func epochs(job *sample.Job, each, total uint64) uint64 {
	if total == 0 {
		return 0
	}
	first := job.From % each
	return (first + total + each - 1) / each
}
