package outofcore

import (
	"math"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample"
)

// Seconds that one core takes for a sampled edge, on a graph with 2^26 nodes (see slowness): to find what a batch asks
// for, to serve it, and to make subgraphs of it. An edge of condensed layers stands for many sampled edges, and takes
// longer to look up.
const (
	walkSeconds  = 25e-9
	serveSeconds = 30e-9
	emitSeconds  = 50e-9
	lookSeconds  = 55e-9
	// bareShare is the part of emitSeconds and lookSeconds that is left without edge ids, for which edges are drawn
	// again.
	bareShare = 0.6
	// spillSeconds is for an edge that is requested and served through a scratch file, and made.
	spillSeconds = 160e-9
	// memorySeconds is for an edge that the memory executor samples.
	memorySeconds = 45e-9
)

// estimate computes forecasts from a budget, from the figures of the disk and from what a batch needs. Its methods
// read no file and change nothing but the forecast that they fill.
type estimate struct {
	budget
	total uint64 // batches of the run
}

// of is the forecast of a run by a design, with windows w, and with the share of rows that windows have.
func (e *estimate) of(d Design, w Window, share rowShare) Forecast {
	f := Forecast{Design: d, Window: w}
	if e.total == 0 || len(e.waves) == 0 {
		f.Memory = e.fixed()
		return f
	}
	switch d {
	case Condensed:
		share = e.condensed(&f)
	case Spilled:
		share = e.spilled(&f)
	default:
		e.windows(&f)
	}
	e.rows(&f, share)
	return f
}

// filled is how full the batches of a job are on average, the last of an epoch included.
func filled(job *sample.Job, width int) float64 {
	seeds := float64(len(job.Seeds) / width)
	return seeds / max(math.Ceil(seeds/float64(job.BatchSize))*float64(job.BatchSize), 1)
}

func (e *estimate) filled() float64 { return filled(e.job, e.sampler.SeedWidth()) }

func (e *estimate) windows(f *Forecast) {
	windows := (e.total + f.Batches - 1) / f.Batches
	each := float64(e.total) / float64(windows)
	held := e.rounds(f, windows, each*e.filled(), cost{walkSeconds, serveSeconds, emitSeconds * e.making()})
	f.Memory = e.fixed() + int64(held+each*windowBudget{e.budget}.perSpans()+f.BatchEdges*e.perContext())
}

func (e *estimate) condensed(f *Forecast) rowShare {
	layers := layerBudget{e.budget}
	sizes := layers.sizes()
	limit, share := layers.limit(f.Window)
	epoch := e.job.EpochBatches(e.sampler.SeedWidth())
	epochs := epochs(e.job, epoch, e.total)
	together := min(layers.together(sizes, limit, epochs), epochs)
	stages := (epochs + together - 1) / together
	each := float64(e.total) / float64(stages)
	part := min(float64(sum(sizes))/4/max(f.BatchEdges*float64(epoch), 1), 1) // of the sampled edges, those in layers
	e.rounds(f, stages, each*e.filled(), cost{walkSeconds * part, serveSeconds * part, lookSeconds * e.making()})
	held := int64(0)
	perStage := int64(math.Ceil(float64(epochs) / float64(stages)))
	for wave, size := range sizes {
		held += size * perStage * min(int64(len(sizes)-wave+1), int64(stages))
	}
	f.Batches = uint64(each)
	f.Memory = e.fixed() + held + int64(f.BatchEdges*e.perContext())
	return share
}

func (e *estimate) spilled(f *Forecast) rowShare {
	spill := spillBudget{e.budget}
	z, share, err := spill.sizes(f.Window, e.total)
	if err != nil {
		f.Err = err
		return share
	}
	windows := math.Ceil(float64(e.total) / float64(z.window))
	batches := float64(e.total) * e.filled()
	each := batches / windows
	written, again, most := 0.0, 0.0, 0.0
	for wave := range e.waves {
		bytes := e.touched(wave, wave, each) * windows
		if bytes > 0 {
			f.Sweeps += int64(windows)
		}
		edges := e.need.edgesOf(e.waves[wave]) * batches
		asks := 0.0
		for _, n := range e.need.asks[wave] {
			asks += n * batches
		}
		most = max(most, asks/windows/float64(z.runs(e.blocks)))
		results := 4 * (edges*float64(1+e.idWords(wave)) + 2*asks)
		written += 4*askedWords*asks + results
		again += 4*askedWords*asks + results*float64(len(e.waves)-wave)
		f.Bytes += int64(bytes)
	}
	f.Written = int64(written)
	f.Seconds = f.BatchEdges * batches * spillSeconds * e.slowness() / float64(e.opt.Threads)
	if speed := e.disk.speed.Sequential; speed > 0 {
		f.Seconds += float64(f.Bytes) / speed
	}
	f.Bytes += int64(again)
	f.Batches = uint64(each)
	result := 4.0
	if e.idBytes() > 0 {
		result = 8
	}
	group := 2 * result * f.BatchEdges * min(float64(z.group), each)
	parts := 16 * min(float64(z.sort), most)
	buffers := spill.buffers(&z)
	f.Memory = e.fixed() + int64(max(group, parts)+f.BatchEdges*e.perContext()) +
		int64((buffers+loaders)*z.extent+buffers*e.readers()*packWords*4)
	return share
}

// slowness is the time that an edge takes, over the time on a graph with 2^26 nodes: with fewer nodes, more of the
// tables by node is in the caches.
func (e *estimate) slowness() float64 {
	return min(max(1+(math.Log2(float64(e.mostNodes()))-26)/10, 0.3), 1.3)
}

// making is the part of the time to make subgraphs that is needed for these.
func (e *estimate) making() float64 {
	if e.opt.NoEdgeIDs {
		return bareShare
	}
	return 1
}

// cost is seconds of one core per sampled edge.
type cost struct{ walk, serve, emit float64 }

// rounds adds up the rounds of a pipeline of windows. A round advances the windows under way, and then sweeps while
// the window that is full is emitted. each is the batches of a window. It returns the most bytes of far ends and
// requests that are held at a time.
func (e *estimate) rounds(f *Forecast, windows uint64, each float64, c cost) (most float64) {
	waves := uint64(len(e.waves))
	threads, bytes := float64(e.opt.Threads)/e.slowness(), 0.0 // as many threads would work on the larger graph
	perWave := make([]float64, waves)
	upTo := make([]float64, waves) // bytes of the far ends of a window that has taken a wave
	all, ends := 0.0, 0.0
	for i, ops := range e.waves {
		perWave[i] = e.need.edgesOf(ops) * each
		all += perWave[i]
		word := 4 * float64(1+e.idWords(i))
		ends += perWave[i] * word
		upTo[i] = ends
	}
	for i := uint64(0); i < windows+waves; i++ {
		count := 1.0
		if i == waves && windows > waves {
			count = float64(windows - waves) // all rounds with a window in each wave are alike
		}
		first, last := uint64(0), min(i, waves-1)
		if i >= windows {
			first = i - windows + 1
		}
		walk, work, read, held := 0.0, 0.0, 0.0, 0.0
		if first < waves {
			for wave := first; wave <= last; wave++ {
				walk += perWave[wave] * c.walk
				work += perWave[wave] * c.serve
				held += upTo[wave] + e.requestBytes(int(wave), each)
			}
			read = e.touched(int(first), int(last), each)
		}
		if i >= waves {
			work += all * c.emit
			held += ends
		}
		most = max(most, held)
		bytes += read * count
		if read > 0 {
			f.Sweeps += int64(count)
		}
		if speed := e.disk.speed.Sequential; speed > 0 {
			read /= speed
		}
		f.Seconds += count * (walk/threads + max(read, work/threads))
		if count > 1 {
			i = windows - 1
		}
	}
	f.Bytes = int64(bytes)
	return most
}

// requestBytes is the bytes of the requests of the given number of batches in a wave: cells, and half of the last cell of each
// bucket is empty.
func (e *estimate) requestBytes(wave int, batches float64) float64 {
	bytes := 0.0
	for i, f := range e.files {
		asks := e.need.asks[wave][i] * batches
		bytes += 8 * (asks*cellWords/cellRequests + min(asks, float64(f.blocks)*float64(e.opt.Threads))*cellWords/2)
	}
	return bytes
}

// touched is the bytes that a sweep reads which serves the waves from first to last, for the given number of batches in each.
func (e *estimate) touched(first, last int, batches float64) float64 {
	bytes := 0.0
	for i, f := range e.files {
		seeds, asks := 0.0, 0.0
		for wave := first; wave <= last; wave++ {
			if wave == 0 {
				seeds = e.need.asks[0][i] * batches
			} else {
				asks += e.need.asks[wave][i] * batches
			}
		}
		if f.blocks == 0 || seeds+asks == 0 {
			continue
		}
		// The blocks of the seeds are known. Nodes that are reached from them may have their edges in any block.
		asks /= float64(f.blocks)
		size := float64(f.far.Size())
		pages := min(size/direct.Align, blockPages)
		share := 0.0
		if spread := e.need.spread; seeds > 0 && spread != nil {
			for _, part := range spread[f.first : f.first+f.blocks] {
				share += e.disk.shareRead(f, asks+seeds*part, pages)
			}
			share /= float64(f.blocks)
		} else {
			share = e.disk.shareRead(f, asks+seeds/float64(f.blocks), pages)
		}
		if f.ids != nil {
			size += float64(f.ids.Size())
		}
		bytes += size * share
	}
	return bytes
}

// mapped is about the seconds that the memory executor takes to sample the given number of edges, and to read the bytes of its
// arrays that are not in the page cache.
func (e *estimate) mapped(edges, uncached float64) float64 {
	seconds := edges * memorySeconds * e.slowness() / float64(e.opt.Threads)
	if speed := e.disk.speed.Sequential; speed > 0 {
		seconds += uncached / speed
	}
	return seconds
}
