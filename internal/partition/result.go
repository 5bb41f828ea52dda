package partition

import (
	"time"

	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Result is a division, its quality and how it was made.
type Result struct {
	Assignment *assign.Assignment
	Method     string
	// OutOfCore says how multilevel divided a graph that did not fit the memory, from rows in a temporary file; nil: it
	// was in memory.
	OutOfCore *outofcore.Stats
	// Ranges says how the method ranges divided the graph, and what its workers told each other; nil: another method.
	Ranges *ranges.Stats
	// Passes is the number of passes of fennel.
	Passes int
	// Constraints are the names of the quantities that are spread evenly, in the order of Quality.Balance.
	Constraints []string
	Caps        []int64 // by constraint: the most that a piece may have; a piece is a part, or a trainer's share of it
	// Quality measures the parts. Trainers measures the pieces of the trainers; nil if there is one trainer
	// per part.
	Quality, Trainers *undirected.Quality
	// Within says that no piece exceeds its caps.
	Within bool
	// RandomCut and RandomVolume are the values expected of a random division.
	RandomCut, RandomVolume float64
	// Gaps lists the node types of which some parts have no node, if the graph has several types. DGL's server
	// does not start for a part that owns no node of a type with features.
	Gaps []Gap
	// Relations counts the edges of the store by type; nil for a graph that is not a store.
	Relations []Relation
	Nodes     int
	Pairs     int64
	// Seconds is the time of the division alone, without loading the graph.
	Seconds  float64
	Forecast Forecast
	Stages   []Stage
	Notes    []string
}

// Gap is a node type of which some parts have no node.
type Gap struct {
	Type  string
	Nodes int64 // number of nodes of the type, at least 1
	Parts []int // parts without a node of the type
}

// gaps lists the types that some parts lack.
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

// Relation counts the edges of an edge type; parallel edges count separately.
type Relation struct {
	Type  string `json:"type"`
	Edges int64  `json:"edges"` // of the store
	Cut   int64  `json:"cut"`
	// Owned has the number of edges that each part owns: those into its nodes.
	Owned []int64 `json:"owned"`
}

// Stage is a stage of the run.
type Stage struct {
	Name    string
	Seconds float64
	Count   int64
	Unit    string
}

func (r *Result) stage(name string, since time.Time, count int64, unit string) {
	r.Stages = append(r.Stages, Stage{name, time.Since(since).Seconds(), count, unit})
}
