package output

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// describe is the schema of the Examples: the sets and features that are written, with the descriptions of the graph's
// schema. With a Compat other than Own it has all sets of the graph's schema, also those that are never sampled.
func (n *Encoding) describe() *tfgnnpb.GraphSchema {
	made := n.schema
	if n.opt.Schema == nil {
		return made
	}
	from := proto.Clone(n.opt.Schema).(*tfgnnpb.GraphSchema)
	if from.Context == nil {
		from.Context = &tfgnnpb.Context{}
	}
	if from.Context.Metadata == nil {
		from.Context.Metadata = &tfgnnpb.Metadata{}
	}
	withoutTable(from.Context.Metadata)
	for name, set := range from.NodeSets {
		withoutTable(set.Metadata)
		if made.NodeSets[name] == nil && tfgnn.IsAuxiliary(name) {
			delete(from.NodeSets, name) // a readout of sets that are not there
		}
	}
	for name, set := range from.EdgeSets {
		withoutTable(set.Metadata)
		if made.EdgeSets[name] == nil && tfgnn.IsAuxiliary(name) {
			delete(from.EdgeSets, name)
		}
	}
	if n.opt.Compat == Own {
		return described(made, from)
	}
	// A dense feature of the context must be in every Example.
	for name := range from.Context.Features {
		if made.GetContext().GetFeatures()[name] == nil {
			delete(from.Context.Features, name)
		}
	}
	from.Context.Features = merged(from.Context.Features, made.GetContext().GetFeatures())
	for name, set := range made.NodeSets {
		if from.NodeSets[name] == nil {
			from.NodeSets[name] = set
		}
		from.NodeSets[name].Features = merged(from.NodeSets[name].Features, set.Features)
	}
	for name, set := range made.EdgeSets {
		if from.EdgeSets[name] == nil {
			from.EdgeSets[name] = set
		}
	}
	return from
}

// withoutTable clears the fields that describe the table of a set.
func withoutTable(m *tfgnnpb.Metadata) {
	if m != nil {
		m.Filename, m.Cardinality = nil, nil
	}
}

// merged adds features of more that features lacks.
func merged(features, more map[string]*tfgnnpb.Feature) map[string]*tfgnnpb.Feature {
	if features == nil {
		features = map[string]*tfgnnpb.Feature{}
	}
	for name, f := range more {
		if features[name] == nil {
			features[name] = f
		}
	}
	return features
}

// described copies the descriptions of the graph's schema for the sets that are written.
func described(made, from *tfgnnpb.GraphSchema) *tfgnnpb.GraphSchema {
	describeFeatures(made.GetContext().GetFeatures(), from.Context.Features)
	for name, set := range made.NodeSets {
		if other := from.NodeSets[name]; other != nil {
			set.Description, set.Metadata = other.Description, notEmpty(other.Metadata)
			describeFeatures(set.Features, other.Features)
		}
	}
	for name, set := range made.EdgeSets {
		if other := from.EdgeSets[name]; other != nil {
			set.Description, set.Metadata = other.Description, notEmpty(other.Metadata)
			describeFeatures(set.Features, other.Features)
		}
	}
	return made
}

// notEmpty is metadata without the entry for reversed tables, or nil where nothing is left. The entry does not apply to
// subgraphs, because their edges have the direction of the schema.
func notEmpty(m *tfgnnpb.Metadata) *tfgnnpb.Metadata {
	if m != nil {
		m.Extra = slices.DeleteFunc(m.Extra, func(kv *tfgnnpb.Metadata_KeyValue) bool { return kv.GetKey() == "edge_type" })
	}
	if proto.Size(m) == 0 {
		return nil
	}
	return m
}

// describeFeatures replaces features by features of from with the same dtype and shape, which have descriptions, sources
// and names of dimensions.
func describeFeatures(features, from map[string]*tfgnnpb.Feature) {
	for name, f := range features {
		other := from[name]
		if other.GetDtype() != f.GetDtype() || len(other.GetShape().GetDim()) != len(f.GetShape().GetDim()) {
			continue
		}
		same := true
		for i, d := range f.GetShape().GetDim() {
			same = same && d.GetSize() == other.GetShape().GetDim()[i].GetSize()
		}
		if same {
			features[name] = other
		}
	}
}
