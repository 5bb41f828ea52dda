package partition

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Forecast estimates what a run needs. Memory and disk follow from the sizes. The time of multilevel depends
// on the graph; the estimate is for large power-law graphs on the machine where it was measured (two cores at
// 2.6 GHz).
type Forecast struct {
	Memory  int64 // peak, in bytes
	Disk    int64 // temporary files, in bytes
	Seconds float64
	Reading float64 // seconds of Seconds until the neighbours of the nodes are listed, which is the stage "graph"
	// Rough says that Seconds depends on the graph, and may be several times too small or too large. Unknown says that
	// Seconds is not known; it is 0.
	Rough, Unknown bool
}

// size is the input of a forecast. The edges are counted in the store, the number of pairs is an estimate.
type size struct {
	nodes, edges, pairs int64
	constraints         int64
	nodeWeights         bool // nodes have weights; else all weigh 1
	edgeWeights         bool
	file                bool // the graph is read from a METIS file
}

// Measured costs of the steps.
const (
	mapped     = 8 << 20  // mapped pages of the store, which store.Touched releases
	spillBytes = 16 << 20 // buffers of a graph on disk
	fileBytes  = 14 << 20 // blocks of a METIS file while its rows go to disk
	// Bytes of an edge's record while the graph is built.
	recordBytes = 8
	// Memory at the peak of multilevel, in addition to the graph and the parts: bytes per pair, more bytes per
	// pair each time that the number of parts doubles beyond 8,
	multilevelPairBytes, multilevelPartBytes = 21, 1.5
	// and for each node and each constraint after the first.
	multilevelConstraintBytes = 64

	buildSeconds      = 60e-9  // per edge, one thread
	multilevelSeconds = 400e-9 // per pair, 8 parts, one thread
	rangesSeconds     = 600e-9 // the same, by ranges
	fennelSeconds     = 22e-9  // per pair and pass
	measureSeconds    = 25e-9  // per pair, one thread
)

// presetTimes is the time of each preset relative to the default: the geometric mean over the graphs of bench/partition_families.py.
var presetTimes = map[multilevel.Preset]float64{multilevel.Fast: 0.55, multilevel.Default: 1, multilevel.High: 2.5}

// graphBytes is the memory of the undirected graph.
func (z size) graphBytes() int64 {
	if z.edgeWeights {
		return 4*z.nodes + 16*z.pairs
	}
	return 4*z.nodes + 8*z.pairs
}

// mapped is the most mapped pages of the store, or the blocks of a file.
func (z size) mapped() int64 {
	if z.file {
		return min(fileBytes, 4*z.graphBytes())
	}
	return min(mapped, 4*(z.nodes+z.edges))
}

// recordsBytes is the memory of the records of edges while a graph is built from a store.
func (z size) recordsBytes() int64 {
	if z.file {
		return 0
	}
	return recordBytes * z.edges
}

// nodeBytes is the memory that every method needs for the nodes: their parts and weights.
func (z size) nodeBytes() int64 { return 2*z.nodes + z.weightBytes() }

// weightBytes is the memory of the weights of the nodes.
func (z size) weightBytes() int64 {
	if !z.nodeWeights {
		return 0
	}
	return 4 * z.constraints * z.nodes
}

// forecast estimates the needs of a method, with the graph in memory, or its rows on disk.
func (z size) forecast(method string, onDisk bool, o *Options) Forecast {
	f := Forecast{Memory: limits.ProcessBytes + z.nodeBytes()}
	doubled := max(0, math.Log2(float64(o.cutInto())/8))
	records := z.recordsBytes()
	if onDisk {
		room := records
		if o.Memory > 0 {
			room = max(0, o.Memory-f.Memory-z.mapped()-min(spillBytes, records))
		}
		f.Disk = z.graphBytes() + max(0, records-room)
		f.Memory += z.mapped() + min(spillBytes, records) + min(records, room)
	} else {
		f.Memory += z.graphBytes() + max(records+z.mapped(), z.methodBytes(method, doubled, o))
	}
	f.Rough = method == Multilevel || method == Ranges
	threads := 1 + 0.6*float64(min(o.Threads, 8)-1)
	f.Reading = buildSeconds * float64(z.edges) / threads
	f.Seconds = f.Reading + measureSeconds*float64(z.pairs)/threads
	switch method {
	case Multilevel:
		f.Seconds += multilevelSeconds * float64(z.pairs) * (1 + 0.2*doubled) * presetTimes[o.Preset] / threads
	case Ranges:
		f.Seconds += rangesSeconds * float64(z.pairs) * (1 + 0.2*doubled) / threads
	case Fennel:
		f.Seconds += fennelSeconds * float64(z.pairs) * float64(o.Passes)
	}
	return f
}

// methodBytes is the memory of a method in addition to the graph.
func (z size) methodBytes(method string, doubled float64, o *Options) int64 {
	switch method {
	case Multilevel:
		return int64((multilevelPairBytes+multilevelPartBytes*doubled)*float64(z.pairs)) + multilevelConstraintBytes*(z.constraints-1)*z.nodes
	case Ranges:
		return ranges.Most(z.nodes, z.pairs, int(z.constraints), o.cutInto())
	default:
		return 0
	}
}

// plan is where a graph is held and how it is divided.
type plan struct {
	// onDisk says that the rows are in a temporary file. outOfCore says that multilevel reads them from there.
	onDisk, outOfCore bool
	forecast          Forecast
}

// fitting plans a run: in memory if the method fits there, else with the rows in a temporary file. It is an error if the
// memory is below the least that the method needs.
func fitting(z size, o *Options) (plan, error) {
	if o.Method == Ranges && z.nodes > ranges.MaxNodes {
		return plan{}, usagef("found %s nodes, expected at most %s for the method ranges; choose the method hash or random, which look at no edges", human.Exact(z.nodes), human.Exact(ranges.MaxNodes))
	}
	p := plan{forecast: z.forecast(o.Method, false, o)}
	listed := 2*z.edges <= limits.Neighbours
	if listed && (o.Memory == 0 || p.forecast.Memory <= o.Memory) {
		return p, nil
	}
	inMemory := p.forecast.Memory
	p.onDisk = true
	if o.Method == Ranges {
		p.forecast = z.rangesOnDisk(o)
		least := p.forecast
		if listed {
			least.Memory = min(least.Memory, inMemory) // of a small graph the buffers are larger than the graph
		}
		p.forecast.Memory = max(p.forecast.Memory, o.Memory) // the core is as large as it allows
		return p, least.within(o.Memory)
	}
	if o.Method != Multilevel {
		p.forecast = z.forecast(o.Method, true, o)
		return p, p.forecast.within(o.Memory)
	}
	if z.nodes > outofcore.MaxNodes {
		return p, usagef("found %s nodes, expected at most %s for the method multilevel out of core; choose the method fennel, although it cuts more edges", human.Exact(z.nodes), human.Exact(outofcore.MaxNodes))
	}
	p.outOfCore, p.forecast = true, z.outOfCore(o)
	least := p.forecast
	if listed {
		least.Memory = min(least.Memory, inMemory) // of a small graph the buffers are larger than the graph
	}
	if err := least.within(o.Memory); err != nil {
		if f := z.forecast(Fennel, true, o); f.Memory <= o.Memory {
			err = fmt.Errorf("%w, or choose the method fennel, which needs %s (%d bytes), although it cuts more edges", err, human.Bytes(f.Memory), f.Memory)
		}
		return p, err
	}
	p.forecast.Memory = max(p.forecast.Memory, o.Memory) // the core is as large as it allows
	return p, nil
}

// outOfCore estimates the needs of multilevel with the rows on disk: the least memory. More memory makes fewer passes.
func (z size) outOfCore(o *Options) Forecast {
	f := z.forecast(Fennel, true, o)
	f.Disk = z.graphBytes() + max(z.recordsBytes(), outofcore.Disk(z.nodes, z.pairs))
	f.Memory = max(f.Memory, limits.ProcessBytes+z.weightBytes()+outofcore.Least(z.nodes, int(z.constraints), o.cutInto()))
	f.Seconds, f.Reading, f.Unknown = 0, 0, true
	return f
}

// rangesOnDisk estimates the needs of the method ranges with the rows on disk: the least memory.
func (z size) rangesOnDisk(o *Options) Forecast {
	f := z.forecast(Ranges, true, o)
	f.Disk = z.graphBytes() + max(z.recordsBytes(), outofcore.Disk(z.nodes, z.pairs)+2*(4*z.nodes+16*z.pairs))
	f.Memory = max(f.Memory, limits.ProcessBytes+z.weightBytes()+ranges.Least(z.nodes, int(z.constraints), o.cutInto()))
	return f
}

// gaveWay says that the rows stay on disk, and why.
func (z size) gaveWay(o *Options) string {
	why := fmt.Sprintf("multilevel needs about %s in memory, which is more than the memory bound of %s", human.Bytes(z.forecast(Multilevel, false, o).Memory), human.Bytes(o.Memory))
	if 2*z.edges > limits.Neighbours {
		why = fmt.Sprintf("found %s edges, and in memory multilevel numbers at most %s", human.Exact(z.edges), human.Exact(limits.Neighbours/2))
	}
	return why + ": it runs out of core, in passes over temporary files, and the memory bound has an influence on the parts; the cut is about the same"
}

// within returns an error if the run would exceed a bound of the memory; 0 is no bound.
func (f *Forecast) within(memory int64) error {
	if memory == 0 || f.Memory <= memory {
		return nil
	}
	return tagged.Errorf(ErrMemory, "found a memory bound of %s, expected at least %s (%d bytes); raise `Memory`", human.Bytes(memory), human.Bytes(f.Memory), f.Memory)
}
