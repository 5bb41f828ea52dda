package partition

import (
	"github.com/graphmill/graphmill/partition/undirected"
)

// Forecast is what a run will take.
type Forecast struct {
	Memory  int64 // bytes at the peak, without what is mapped of the store
	Disk    int64 // bytes of temporary files
	Seconds float64
}

// size is what a forecast goes by.
type size struct {
	nodes, edges int64 // edges as the store counts them
	constraints  int64
	parts        int64
}

// Bytes and seconds of the steps, measured.
const (
	baseBytes       = 40 << 20 // program and buffers
	buildBytesEdge  = 8        // records, beside the result
	multilevelEntry = 12       // bytes a neighbour, at the peak of multilevel
	multilevelNode  = 24

	buildSecondsEdge      = 60e-9
	multilevelSecondsEdge = 160e-9
	fennelSecondsEdge     = 25e-9
)

// graphBytes is the memory of the undirected graph: at most, for edges that
// double others count once.
func (s size) graphBytes() int64 { return 4*s.nodes + 8*s.edges }

// nodeBytes is what every method holds a node.
func (s size) nodeBytes() int64 {
	n := 2 * s.nodes
	if s.constraints > 1 {
		n += 4 * s.constraints * s.nodes
	}
	return n
}

// forecast is what the method takes. rows says that the graph lies on disk.
func (s size) forecast(method string, rows bool, o *Options) Forecast {
	f := Forecast{Memory: baseBytes + s.nodeBytes()}
	build := buildBytesEdge * s.edges
	graph := s.graphBytes()
	f.Seconds = buildSecondsEdge * float64(s.edges)
	switch {
	case rows:
		f.Disk = build + graph
		if o.Memory > 0 {
			f.Memory = max(f.Memory, min(o.Memory, f.Memory+build))
		} else {
			f.Memory += build
		}
	case method == Multilevel:
		f.Memory += graph + max(build, multilevelEntry*2*s.edges+multilevelNode*s.nodes)
	default:
		f.Memory += graph + build
	}
	switch method {
	case Multilevel:
		f.Seconds += multilevelSecondsEdge * float64(s.edges) * float64(max(1, 8-int64(o.Threads))/7)
	case Fennel:
		f.Seconds += fennelSecondsEdge * float64(s.edges) * float64(o.Passes)
	}
	return f
}

// fitting chooses how the graph is held and divided: in memory by the method that is asked for, if
// that fits, else as rows in a temporary file, by a method that streams.
func fitting(s size, o *Options) (method string, rows bool, f Forecast) {
	method = o.Method
	if f = s.forecast(method, false, o); (o.Memory == 0 || f.Memory <= o.Memory) && 2*s.edges <= undirected.MaxEntries {
		return method, false, f
	}
	if method == Multilevel {
		method = Fennel
	}
	return method, true, s.forecast(method, true, o)
}
