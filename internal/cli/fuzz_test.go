package cli

import (
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/options"
)

// FuzzComplete completes flags from any text as graph.json: the shell calls the command for each key that completes, so it must not fail.
func FuzzComplete(f *testing.F) {
	f.Add(`{"nodes":{"a":{"count":1,"columns":{"x":{"dtype":"float32","shape":[]}}},"b":null},"edges":{"a:r:a":{"columns":{"w":{"dtype":"float32","shape":[2]}}},"odd":{}},"context":{"columns":{"y":{}}}}`)
	f.Add(`{"nodes":{"a":null},"edges":{"a:r:a":null},"context":null}`)
	f.Fuzz(func(t *testing.T, meta string) {
		fuzzing.Check(t, len(meta), func() {
			m := parseMeta([]byte(meta))
			if m == nil {
				return
			}
			for _, k := range []options.Kind{options.NodeTypes, options.EdgeTypes, options.Types, options.NodeColumns, options.EdgeColumns, options.EdgeColumn, options.Fanouts, options.NodeAssignments, options.EdgeAssignments, options.Assignments, options.Reverses, options.Orders, options.Components, options.ComponentsAmounts} {
				namesOf(k, m)
			}
		})
	})
}
