package structure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/suggest"
)

// The structures that can be computed.
const (
	Degree        = "degree"
	LogDegree     = "log-degree"
	PageRank      = "pagerank"
	RandomWalkPE  = "random-walk-pe"
	LaplacianPE   = "laplacian-pe"
	CoreNumber    = "core-number"
	Clustering    = "clustering"
	ComponentSize = "component-size"
)

// Kinds are the structures, in the order of the documentation.
var Kinds = []string{Degree, LogDegree, PageRank, RandomWalkPE, LaplacianPE, CoreNumber, Clustering, ComponentSize}

// Directions of Spec.
const (
	In   = "in"
	Out  = "out"
	Both = "both"
)

// Methods of Spec and Result.
const (
	Exact    = "exact"
	Estimate = "estimate"
)

// Bounds of a Spec.
const (
	maxSteps   = 256
	maxDims    = 64
	maxDamping = 0.999
)

// Spec describes a column. The zero values of fields other than Structure stand for their defaults; Validate refuses fields that the
// structure does not have.
type Spec struct {
	Structure string `json:"structure"`
	// Edges are edge types, in full or by a relation that is unique.
	Edges []string `json:"edges,omitempty"`
	// Direction is in, out or both. A degree counts the edges that come in, go out, or both (the default). PageRank and walks follow edges
	// from source to destination (out), backwards (in), or both ways. The default is out for pagerank and both for random-walk-pe.
	Direction string `json:"direction,omitempty"`
	// Typed gives a degree a position per edge type and direction.
	Typed bool `json:"typed,omitempty"`
	// Damping is of pagerank; default 0.85.
	Damping float64 `json:"damping,omitempty"`
	// Steps is the number of steps of random-walk-pe, and its width.
	Steps int `json:"steps,omitempty"`
	// Method is exact or estimate, of random-walk-pe. By default it is exact while nodes x edges is at most 10^12.
	Method string `json:"method,omitempty"`
	// Seed is the random seed of an estimate.
	Seed uint64 `json:"seed,omitempty"`
	// Dims is the number of eigenvectors of laplacian-pe, and its width.
	Dims int `json:"dims,omitempty"`
}

// Validate refuses a Spec that no graph could satisfy.
func (s Spec) Validate() error {
	if !slices.Contains(Kinds, s.Structure) {
		return fmt.Errorf("found structure %q, expected %s%s", s.Structure, strings.Join(Kinds, ", "), suggest.Hint(s.Structure, Kinds))
	}
	degree := s.Structure == Degree || s.Structure == LogDegree
	walks := s.Structure == RandomWalkPE
	for _, f := range []struct {
		name  string
		given bool
		has   bool
	}{
		{"direction", s.Direction != "", degree || walks || s.Structure == PageRank},
		{"typed", s.Typed, degree},
		{"damping", s.Damping != 0, s.Structure == PageRank},
		{"steps", s.Steps != 0, walks},
		{"method", s.Method != "", walks},
		{"seed", s.Seed != 0, walks},
		{"dims", s.Dims != 0, s.Structure == LaplacianPE},
	} {
		if f.given && !f.has {
			return fmt.Errorf("found %s in structure %s, expected none; remove it", f.name, s.Structure)
		}
	}
	switch {
	case s.Direction != "" && !slices.Contains([]string{In, Out, Both}, s.Direction):
		return fmt.Errorf("found direction %q of structure %s, expected in, out or both", s.Direction, s.Structure)
	case s.Structure == PageRank && s.Damping != 0 && !(s.Damping > 0 && s.Damping <= maxDamping):
		return fmt.Errorf("found damping %v of structure %s, expected more than 0 and at most %v", s.Damping, s.Structure, maxDamping)
	case walks && (s.Steps < 1 || s.Steps > maxSteps):
		return fmt.Errorf("found steps %d of structure %s, expected 1 to %d", s.Steps, s.Structure, maxSteps)
	case s.Method != "" && s.Method != Exact && s.Method != Estimate:
		return fmt.Errorf("found method %q of structure %s, expected exact or estimate", s.Method, s.Structure)
	case s.Structure == LaplacianPE && (s.Dims < 1 || s.Dims > maxDims):
		return fmt.Errorf("found dims %d of structure %s, expected 1 to %d", s.Dims, s.Structure, maxDims)
	}
	return nil
}

func (s Spec) damping() float64 {
	if s.Damping == 0 {
		return 0.85
	}
	return s.Damping
}

func (s Spec) direction() string {
	switch {
	case s.Direction != "":
		return s.Direction
	case s.Structure == PageRank:
		return Out
	}
	return Both
}

// edgeTypes are the numbers of the edge types of a Spec, ascending, each once.
func (s Spec) edgeTypes(g *graph.Graph, node int) ([]int, error) {
	var types []int
	degree := s.Structure == Degree || s.Structure == LogDegree
	touches := func(t graph.EdgeType) bool {
		name, d := g.Nodes[node].Type, s.direction()
		return d != Out && t.Dst == name || d != In && t.Src == name
	}
	if len(s.Edges) == 0 {
		for i, e := range g.Edges {
			if !degree || touches(e.Type) {
				types = append(types, i)
			}
		}
		return types, nil
	}
	for _, name := range s.Edges {
		i, err := g.EdgeType(name)
		if err != nil {
			return nil, fmt.Errorf("edges of structure %s: %w", s.Structure, err)
		}
		if degree && !touches(g.Edges[i].Type) {
			return nil, fmt.Errorf("found edge type %s in structure %s of node type %s with direction %s, expected one that has the node type at that end", g.Edges[i].Type, s.Structure, g.Nodes[node].Type, s.direction())
		}
		if slices.Contains(types, i) {
			return nil, fmt.Errorf("found edge type %s twice in structure %s, expected it once", g.Edges[i].Type, s.Structure)
		}
		types = append(types, i)
	}
	slices.Sort(types)
	return types, nil
}

// resolve validates a Spec on a graph, and returns the numbers of the node type and the edge types.
func (s Spec) resolve(g *graph.Graph, nodeType string) (node int, types []int, err error) {
	if err := s.Validate(); err != nil {
		return 0, nil, err
	}
	if node = g.NodeType(nodeType); node < 0 {
		var have []string
		for _, n := range g.Nodes {
			have = append(have, n.Type)
		}
		return 0, nil, fmt.Errorf("found node type %q, expected one of %s", nodeType, strings.Join(have, ", "))
	}
	types, err = s.edgeTypes(g, node)
	return node, types, err
}

// Width is the number of positions of a Spec on a node type. It can be 0: a typed degree of a node type without edge types.
func Width(s Spec, g *graph.Graph, nodeType string) (int, error) {
	names, err := Positions(s, g, nodeType)
	return len(names), err
}

// Positions says what each position is, such as "user:buys:item out" of a typed degree and "step 3" of a walk.
func Positions(s Spec, g *graph.Graph, nodeType string) ([]string, error) {
	node, types, err := s.resolve(g, nodeType)
	if err != nil {
		return nil, err
	}
	var names []string
	switch s.Structure {
	case Degree, LogDegree:
		if !s.Typed {
			return []string{s.Structure + " " + s.direction()}, nil
		}
		for _, c := range degreeCounts(s, g, node, types) {
			names = append(names, g.Edges[c.edge].Type.String()+" "+c.end.String())
		}
	case RandomWalkPE:
		for k := range s.Steps {
			names = append(names, fmt.Sprintf("step %d", k+1))
		}
	case LaplacianPE:
		for k := range s.Dims {
			names = append(names, fmt.Sprintf("eigenvector %d", k+1))
		}
	default:
		names = []string{s.Structure}
	}
	return names, nil
}
