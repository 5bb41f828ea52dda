package partition

import (
	"time"

	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Result is a division and what it is worth.
type Result struct {
	Assignment *assign.Assignment
	// Method is what divided the graph: not the one asked for where that did not fit the
	// memory.
	Method string
	// Passes is how often fennel streamed the nodes.
	Passes int
	// Constraints are the names of what is spread evenly, in the order of
	// Quality.Balance.
	Constraints []string
	Caps        []int64 // of a piece: a part, or a trainer where there are several
	// Quality is that of the parts. Trainers is that of the trainers, nil where they
	// are not told apart.
	Quality, Trainers *undirected.Quality
	// Within says that no piece exceeds its caps.
	Within bool
	// RandomCut and RandomVolume are what is expected of nodes that are dealt out
	// by chance.
	RandomCut, RandomVolume float64
	// Gaps are the node types of which some parts have no node, if the graph has several types.
	// DGL's server does not start for a part that owns no node of a type with features.
	Gaps []Gap
	// Relations are the edges of the store by type; nil for a graph that is none.
	Relations []Relation
	Nodes     int
	Pairs     int64
	// Seconds is the time of the division alone: the graph was loaded before.
	Seconds  float64
	Forecast Forecast
	Stages   []Stage
	Notes    []string
}

// Gap is a node type of which some parts have no node.
type Gap struct {
	Type  string
	Nodes int64 // of the type, at least 1
	Parts []int // those without
}

// gaps are the types that some parts lack.
func gaps(a *assign.Assignment) (list []Gap) {
	for t, name := range a.Types {
		of := a.Of(t)
		have := make([]bool, a.Parts)
		for _, p := range of {
			have[p] = true
		}
		g := Gap{Type: name, Nodes: int64(len(of))}
		for p, there := range have {
			if !there {
				g.Parts = append(g.Parts, p)
			}
		}
		if len(of) > 0 && g.Parts != nil {
			list = append(list, g)
		}
	}
	return list
}

// Relation counts the edges of a type: each counts as often as the store has it.
type Relation struct {
	Type       string
	Edges, Cut int64
	// Owned are the edges of each part: those whose destination it has.
	Owned []int64
}

// Stage is a part of the run.
type Stage struct {
	Name    string
	Seconds float64
	Count   int64
	Unit    string
}

func (r *Result) stage(name string, since time.Time, count int64, unit string) {
	r.Stages = append(r.Stages, Stage{name, time.Since(since).Seconds(), count, unit})
}
