package layout

import (
	"strings"

	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Terms are the properties of a layout other than the limits of its packs.
type Terms struct {
	// Reserve keeps room for padding in each pack: a node of each type that the limits name, and a graph if
	// the number of graphs is limited. Padding edges need no room: they join padding nodes.
	Reserve bool
	// Oversize says what happens to graphs that are larger than a pack: Error (or empty), Skip or Alone.
	Oversize string
	// Over has the shapes of such graphs; nil or empty: there are none.
	Over *pack.Histogram
}

// Values of Terms.Oversize.
const (
	Error = "error" // such graphs are an error
	Skip  = "skip"  // such graphs are left out and counted
	Alone = "alone" // each is a pack of its own, separate from the packs of the fixed shape
)

// reserved is the part of a component's limit that a reserve takes.
func reserved(component string) int {
	if component == "num_nodes" || strings.HasPrefix(component, "num_nodes:") {
		return 1
	}
	return 0
}

// Reserve subtracts the reserve from the limits of a problem.
func Reserve(p *pack.Problem) error {
	limits, nodes := make([]int, len(p.Limits)), 0
	for i, l := range p.Limits {
		n := reserved(p.Components[i])
		nodes += n
		if l < n {
			return tagged.Errorf(pack.ErrLimits, "found limit %d of %s, expected at least %d, the padding node of the reserve; raise `Limits`, or leave `Reserve` out", l, p.Components[i], n)
		}
		limits[i] = l - n
	}
	if nodes == 0 {
		return tagged.Errorf(pack.ErrLimits, "found limits of %s, expected num_nodes or num_nodes:TYPE among them, because the reserve takes a node; add num_nodes to `Limits`, or leave `Reserve` out", strings.Join(p.Components, ", "))
	}
	if p.MaxGraphs == 1 {
		return tagged.Errorf(pack.ErrLimits, "found at most 1 graph per pack, expected 0 (no cap) or at least 2, because the reserve takes one; raise `MaxGraphs`, or leave `Reserve` out")
	}
	if p.Limits = limits; p.MaxGraphs > 0 {
		p.MaxGraphs--
	}
	return nil
}

// unreserve returns the limits that a problem had before Reserve.
func unreserve(p *pack.Problem) (limits []int, maxGraphs int) {
	for i, l := range p.Limits {
		limits = append(limits, l+reserved(p.Components[i]))
	}
	if maxGraphs = p.MaxGraphs; maxGraphs > 0 {
		maxGraphs++
	}
	return limits, maxGraphs
}
