package stream

import (
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/suggest"
)

// Design is a way to sample without holding the neighbours. All make the same
// subgraphs.
type Design uint8

const (
	Auto      Design = iota // whichever reads least within the memory
	Windows                 // windows of batches, in a pipeline
	Condensed               // scope epoch: one sample a node
	Spilled                 // an epoch at a time, with requests and results on disk
)

var designNames = []string{"auto", "windows", "condensed", "spilled"}

func (d Design) String() string { return designNames[d] }

// ParseDesign reads "auto", "windows", "condensed" or "spilled".
func ParseDesign(name string) (Design, error) {
	i := slices.Index(designNames, name)
	if i < 0 {
		return 0, fmt.Errorf("found design %q, expected auto, windows, condensed or spilled%s", name, suggest.Hint(name, designNames))
	}
	return Design(i), nil
}
