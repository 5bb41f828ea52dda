package tfgnn

import (
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Feature is one feature of a schema, with the keys that hold it in an Example.
type Feature struct {
	Kind  string `json:"kind"` // "context", "nodes" or "edges"
	Set   string `json:"set,omitempty"`
	Name  string `json:"name"`
	DType string `json:"dtype"` // as in the schema: DT_FLOAT
	Shape []int  `json:"shape"` // of one item; -1: ragged
	Key   string `json:"key"`
	// Lengths are the keys of the row lengths, one per ragged dimension.
	Lengths []string `json:"row_lengths,omitempty"`
}

// Features lists the features of a schema: of the context, of the node sets, and of the edge sets, each sorted
// by name.
func Features(schema *tfgnnpb.GraphSchema) []Feature {
	var all []Feature
	add := func(kind, set string, features map[string]*tfgnnpb.Feature) {
		for _, name := range sortedKeys(features) {
			f := Feature{Kind: kind, Set: set, Name: name, DType: features[name].GetDtype().String(), Shape: []int{}, Key: FeatureKey(kind, set, name)}
			for i, d := range features[name].GetShape().GetDim() {
				f.Shape = append(f.Shape, int(d.GetSize()))
				if d.GetSize() == -1 {
					f.Lengths = append(f.Lengths, RaggedKey(f.Key, i+1))
				}
			}
			all = append(all, f)
		}
	}
	add("context", "", schema.GetContext().GetFeatures())
	for _, name := range sortedKeys(schema.NodeSets) {
		add("nodes", name, schema.NodeSets[name].GetFeatures())
	}
	for _, name := range sortedKeys(schema.EdgeSets) {
		add("edges", name, schema.EdgeSets[name].GetFeatures())
	}
	return all
}

// Sets lists the names of node sets or edge sets, sorted.
func Sets[S tfgnnpb.NodeSet | tfgnnpb.EdgeSet](sets map[string]*S) []string { return sortedKeys(sets) }

// Table is the table of a node set, an edge set, or the context.
type Table struct {
	Kind     string   `json:"kind"` // as in Feature
	Set      string   `json:"set,omitempty"`
	Filename string   `json:"filename"`
	Files    []string `json:"files"`
}

// FindTables calls find with the file name that the schema gives for the table of each set, and of the context, and
// returns the tables whose files it found. An error of find becomes a fault of the file f, as does a set without a
// file name, unless the set is auxiliary.
func FindTables(f *File[*tfgnnpb.GraphSchema], find func(filename string) (files []string, err error)) (found []Table) {
	var faults list
	add := func(at fieldPath, kind, set string, m *tfgnnpb.Metadata, needed bool) {
		at = at.field("metadata").field("filename")
		if m.GetFilename() == "" {
			if needed {
				faults.add(at, "found no filename, expected the table of the set")
			}
			return
		}
		files, err := find(m.GetFilename())
		if err != nil {
			faults.add(at, "%v", err)
			return
		}
		found = append(found, Table{kind, set, m.GetFilename(), files})
	}
	s := f.Message
	add(fieldPath{}.field("context"), "context", "", s.GetContext().GetMetadata(), false)
	for _, name := range sortedKeys(s.NodeSets) {
		add(fieldPath{}.entry("node_sets", name), "nodes", name, s.NodeSets[name].GetMetadata(), !IsAuxiliary(name))
	}
	for _, name := range sortedKeys(s.EdgeSets) {
		add(fieldPath{}.entry("edge_sets", name), "edges", name, s.EdgeSets[name].GetMetadata(), !IsAuxiliary(name))
	}
	faults.place(f.Name, f.text, f.Message.ProtoReflect().Descriptor())
	f.Faults = append(f.Faults, faults...)
	return found
}
