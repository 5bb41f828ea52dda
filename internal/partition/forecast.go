package partition

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Forecast estimates what a run needs. Memory and disk follow from the sizes. The time of multilevel depends
// on the graph; the estimate is for large power-law graphs on the machine where it was measured (two cores at
// 2.6 GHz).
type Forecast struct {
	Memory  int64 // peak, in bytes
	Disk    int64 // temporary files, in bytes
	Seconds float64
	// Rough says that Seconds depends on the graph, and may be several times too small or too large.
	Rough bool
}

// size is the input of a forecast. The edges are counted in the store, the number of pairs is an estimate.
type size struct {
	nodes, edges, pairs int64
	constraints         int64
	nodeWeights         bool // nodes have weights; else all weigh 1
	edgeWeights         bool
}

// Measured costs of the steps.
const (
	baseBytes  = 20 << 20 // the program and its buffers
	mapped     = 8 << 20  // mapped pages of the store, which store.Touched releases
	spillBytes = 16 << 20 // buffers of a graph on disk
	// Bytes of an edge's record while the graph is built.
	recordBytes = 8
	// Memory at the peak of multilevel, in addition to the graph and the parts: bytes per pair, more bytes per
	// pair each time that the number of parts doubles beyond 8,
	multilevelPairBytes, multilevelPartBytes = 21, 1.5
	// and for each node and each constraint after the first.
	multilevelConstraintBytes = 64

	buildSeconds      = 60e-9  // per edge, one thread
	multilevelSeconds = 400e-9 // per pair, 8 parts, one thread
	fennelSeconds     = 22e-9  // per pair and pass
	measureSeconds    = 25e-9  // per pair, one thread
)

// presetTimes is the time of each preset relative to the default.
var presetTimes = map[multilevel.Preset]float64{multilevel.Fast: 0.6, multilevel.Default: 1, multilevel.High: 3}

// graphBytes is the memory of the undirected graph.
func (z size) graphBytes() int64 {
	if z.edgeWeights {
		return 4*z.nodes + 16*z.pairs
	}
	return 4*z.nodes + 8*z.pairs
}

// mapped is the most mapped pages of the store.
func (z size) mapped() int64 { return min(mapped, 4*(z.nodes+z.edges)) }

// nodeBytes is the memory that every method needs for the nodes: their parts and weights.
func (z size) nodeBytes() int64 {
	bytes := int64(2)
	if z.nodeWeights {
		bytes += 4 * z.constraints
	}
	return bytes * z.nodes
}

// forecast estimates the needs of a method, with the graph in memory, or its rows on disk.
func (z size) forecast(method string, onDisk bool, o *Options) Forecast {
	f := Forecast{Memory: baseBytes + z.nodeBytes()}
	doubled := max(0, math.Log2(float64(o.cutInto())/8))
	records := recordBytes * z.edges
	if onDisk {
		room := records
		if o.Memory > 0 {
			room = max(0, o.Memory-f.Memory-z.mapped()-min(spillBytes, records))
		}
		f.Disk = z.graphBytes() + max(0, records-room)
		f.Memory += z.mapped() + min(spillBytes, records) + min(records, room)
	} else {
		f.Memory += z.graphBytes() + max(records+z.mapped(), z.methodBytes(method, doubled))
	}
	f.Rough = method == Multilevel
	threads := 1 + 0.6*float64(min(o.Threads, 8)-1)
	f.Seconds = buildSeconds*float64(z.edges)/threads + measureSeconds*float64(z.pairs)/threads
	switch method {
	case Multilevel:
		f.Seconds += multilevelSeconds * float64(z.pairs) * (1 + 0.2*doubled) * presetTimes[o.Preset] / threads
	case Fennel:
		f.Seconds += fennelSeconds * float64(z.pairs) * float64(o.Passes)
	}
	return f
}

// methodBytes is the memory of a method in addition to the graph.
func (z size) methodBytes(method string, doubled float64) int64 {
	if method != Multilevel {
		return 0
	}
	return int64((multilevelPairBytes+multilevelPartBytes*doubled)*float64(z.pairs)) + multilevelConstraintBytes*(z.constraints-1)*z.nodes
}

// fitting chooses where the graph is held and how it is divided: in memory by the requested method if that
// fits, else as rows in a temporary file by a method that streams. It is an error if a graph fits the memory
// but has more edges than multilevel can number.
func fitting(z size, o *Options) (method string, onDisk bool, f Forecast, err error) {
	f = z.forecast(o.Method, false, o)
	fits, listed := o.Memory == 0 || f.Memory <= o.Memory, 2*z.edges <= limits.Neighbours
	switch {
	case fits && listed:
		return o.Method, false, f, nil
	case fits && o.Method == Multilevel:
		return "", false, f, tagged.Errorf(ErrTooLarge, "found %s edges, expected at most %s for the method multilevel, which numbers neighbours with 32 bits and lists two for each edge; choose the method fennel, which streams the edges, although it cuts more of them",
			human.Exact(z.edges), human.Exact(limits.Neighbours/2))
	}
	method = streaming(o.Method)
	f = z.forecast(method, true, o)
	return method, true, f, f.within(o.Memory)
}

// gaveWay says that another method replaced the requested one, and why.
func (z size) gaveWay(method string, o *Options) string {
	return fmt.Sprintf("%s needs about %s, which is more than the memory bound of %s: %s, which streams the graph, took its place; its cut is larger",
		o.Method, human.Bytes(z.forecast(o.Method, false, o).Memory), human.Bytes(o.Memory), method)
}

// streaming returns the method itself if it streams, else the method that replaces it where memory is short.
func streaming(method string) string {
	if method == Multilevel {
		return Fennel
	}
	return method
}

// within returns an error if the run would exceed a bound of the memory; 0 is no bound.
func (f *Forecast) within(memory int64) error {
	if memory == 0 || f.Memory <= memory {
		return nil
	}
	return tagged.Errorf(ErrMemory, "found a memory bound of %s, expected at least %s (%d bytes); raise `Memory`", human.Bytes(memory), human.Bytes(f.Memory), f.Memory)
}
