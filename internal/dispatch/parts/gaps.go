package parts

import (
	"fmt"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/human"
)

// Gaps lists the types with features of which some parts own nothing, and these parts. DGL's server maps each
// feature into shared memory, and exits if the part has 0 bytes of it. nodes and edges report whether a type
// has features.
func Gaps(c *dgl.Config, nodes, edges func(t int) bool) (list []string) {
	for _, x := range []struct {
		what  string
		types []dgl.TypeRanges
		have  func(t int) bool
	}{{"nodes", c.Nodes, nodes}, {"edges", c.Edges, edges}} {
		for t := range x.types {
			r := &x.types[t]
			var without []int
			for p := range r.Ranges {
				if r.Ranges[p][0] == r.Ranges[p][1] {
					without = append(without, p)
				}
			}
			if x.have(t) && len(without) > 0 {
				list = append(list, fmt.Sprintf("%s, which has features: none of the %s %s in part %s", r.Name, human.Exact(r.Count()), x.what, human.List(without)))
			}
		}
	}
	return list
}

// GapsMeaning says why Gaps matter, for messages.
const GapsMeaning = "DGL's server does not start for a part that owns no row of a feature"
