package dgf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Plan is a SamplingPlan: a tree of steps, each of which follows an edge set. Of a SimpleSamplingConfig it has the fields that the two
// have in common, and Simple.
type Plan struct {
	Root *PlanNode `json:"root"`

	WithReplacement     bool `json:"with_replacement"`
	Temporal            bool `json:"temporal_sampling"`
	MultiVisit          bool `json:"multi_visit"`
	PropagateTimestamps bool `json:"propagate_timestamp_to_edges"`

	// Simple is set in place of Root for a SimpleSamplingConfig.
	Simple *SimpleConfig `json:"-"`
}

// PlanNode is a node set that a step reaches, and the steps from there.
type PlanNode struct {
	NodeSet  string     `json:"nodeset"`
	Children []PlanEdge `json:"children"`
}

// PlanEdge is a step: at most HopWidth edges of an edge set from each node, from sources to targets or, if Reversed, from targets to
// sources.
type PlanEdge struct {
	EdgeSet  string    `json:"edgeset"`
	Reversed bool      `json:"reversed"`
	Node     *PlanNode `json:"node"`
	HopWidth int       `json:"hop_width"`
}

// SimpleConfig is a SimpleSamplingConfig, which follows all edge sets in each hop.
type SimpleConfig struct {
	SeedNodeSet string `json:"seed_nodeset"`
	Hops        int    `json:"num_hops"`
	HopWidth    int    `json:"hop_width"`
	Reverse     bool   `json:"reverse"`
}

// planFields are the fields of a plan, and simpleFields those of a SimpleSamplingConfig, in JSON.
var (
	planFields   = []string{"root", "with_replacement", "temporal_sampling", "multi_visit", "max_timeseries_len", "propagate_timestamp_to_edges"}
	simpleFields = append([]string{"seed_nodeset", "num_hops", "hop_width", "reverse"}, planFields[1:]...)
)

// IsPlan says whether text is the JSON of a plan: an object with root or seed_nodeset.
func IsPlan(text []byte) bool {
	var fields map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(text)).Decode(&fields) != nil {
		return false
	}
	return fields["root"] != nil || fields["seed_nodeset"] != nil
}

// ParsePlan reads and checks the JSON that to_json of a SamplingPlan or SimpleSamplingConfig gives. Fields that are absent have DGF's
// defaults. It refuses fields that it does not know, as they would change what is sampled. name begins errors.
func ParsePlan(name string, text []byte) (*Plan, error) {
	var fields map[string]json.RawMessage
	if err := decode(name, text, &fields); err != nil {
		return nil, err
	}
	p := &Plan{MultiVisit: true, PropagateTimestamps: true}
	known := planFields
	if fields["root"] == nil {
		known = simpleFields
		p.Simple = &SimpleConfig{Hops: 3, HopWidth: 5, Reverse: true}
		if err := decode(name, text, p.Simple); err != nil {
			return nil, err
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, field) {
			return nil, errorf(name, "found the field %q in a plan of DGF, expected some of %q; remove it", field, known)
		}
	}
	if err := decode(name, text, p); err != nil {
		return nil, err
	}
	switch s := p.Simple; {
	case s == nil:
		if err := checkStep(p.Root); err != nil {
			return nil, errorf(name, "%w", err)
		}
	case s.SeedNodeSet == "":
		return nil, errorf(name, "found no seed_nodeset, expected the node set of the seeds")
	case s.Hops < 1 || s.HopWidth < 1:
		return nil, errorf(name, "found num_hops %d and hop_width %d, expected at least 1", s.Hops, s.HopWidth)
	}
	return p, nil
}

func checkStep(n *PlanNode) error {
	if n == nil || n.NodeSet == "" {
		return fmt.Errorf("found a step without nodeset, expected the node set that it reaches")
	}
	for _, e := range n.Children {
		switch {
		case e.EdgeSet == "":
			return fmt.Errorf("found a step from %q without edgeset, expected the edge set that it follows", n.NodeSet)
		case e.HopWidth < 1:
			return fmt.Errorf("found hop_width %d of edge set %q, expected at least 1", e.HopWidth, e.EdgeSet)
		}
		if err := checkStep(e.Node); err != nil {
			return err
		}
	}
	return nil
}
