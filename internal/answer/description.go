package answer

import (
	"encoding/json"

	"github.com/graphmill/graphmill/internal/feed"
)

// ProtocolVersion is the version of the frames, and of the description of answers.
const ProtocolVersion = 1

// Description says what the answers of a version of a store by a plan have. The words are those of the feed's answer to a greeting.
type Description struct {
	Version int `json:"version"`
	// Store names the version of the store, as lineages do.
	Store string `json:"store,omitempty"`
	// Plan is the name of the plan that is described, and Plans are those that questions can name, in the description of each plan.
	Plan  string     `json:"plan,omitempty"`
	Plans []PlanInfo `json:"plans,omitempty"`
	// BatchSize is the most seeds of a question.
	BatchSize int      `json:"batch_size"`
	Hops      int      `json:"hops"`
	SeedTypes []string `json:"seed_types"`
	// TimeUnit is the unit of the times of seeds; "" of plain numbers, and where questions have no times.
	TimeUnit  string              `json:"time_unit,omitempty"`
	SeedEdges string              `json:"seed_edges,omitempty"`
	Negatives *feed.NegativesInfo `json:"negatives,omitempty"`
	Columns   []feed.ColumnInfo   `json:"columns"`
	// Ages names the columns with the ages of rows at the times of their seeds.
	Ages []string      `json:"ages,omitempty"`
	Ops  []feed.OpInfo `json:"ops"` // from op 1
}

// PlanInfo describes a plan to clients, as far as they need it for a question.
type PlanInfo struct {
	Name      string   `json:"name"`
	SeedTypes []string `json:"seed_types"`
	TimeUnit  string   `json:"time_unit,omitempty"`
}

// infosOf are the plans of a version that questions can name.
func infosOf(v *Version) (infos []PlanInfo) {
	for i := range v.Plans {
		if p := &v.Plans[i]; p.Name != "" {
			infos = append(infos, PlanInfo{p.Name, p.Source.SeedTypes(), string(p.Source.TimeUnit())})
		}
	}
	return infos
}

// describe is the JSON of the description of a version by a plan.
func describe(v *Version, p *Plan) ([]byte, error) {
	src := p.Source
	return json.Marshal(Description{
		Version: ProtocolVersion, Store: v.Name, Plan: p.Name, Plans: infosOf(v), BatchSize: src.BatchSize(), Hops: src.Hops(), SeedTypes: src.SeedTypes(), TimeUnit: string(src.TimeUnit()),
		SeedEdges: src.SeedEdges(), Negatives: src.Negatives(), Columns: src.Columns(), Ages: src.Ages(), Ops: src.Ops(),
	})
}
