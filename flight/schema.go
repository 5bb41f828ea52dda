package flight

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
)

// metadataKey is the key of the schema's metadata.
const metadataKey = "graphmill"

// epochInfo is the metadata of the schema. It describes an epoch, over all ranks.
type epochInfo struct {
	Version int `json:"version"`
	// Store is the name of the version of the store.
	Store string `json:"store,omitempty"`
	// Plan is the name of the plan.
	Plan    string `json:"plan,omitempty"`
	Batches int    `json:"batches"`
	Seeds   int    `json:"seeds"`
	// SeedTypes is the node type of the seeds; for seed links, the types of source and target.
	SeedTypes []string `json:"seed_types"`
	// SeedEdges is the edge type of seed links, and Negatives describes their negative links.
	SeedEdges string              `json:"seed_edges,omitempty"`
	Negatives *feed.NegativesInfo `json:"negatives,omitempty"`
	Hops      int                 `json:"hops"`
	Ops       []feed.OpInfo       `json:"ops"` // from op 1
}

// version is the version of the format of batches.
const version = 1

// batchInfo is the metadata of a message: the number of its batch.
type batchInfo struct {
	Epoch uint64 `json:"epoch"`
	Batch int    `json:"batch"`
	// Store names the version of the store if the schema names another one.
	Store string `json:"store,omitempty"`
}

// valueTypes are the Arrow types of dtypes. A dtype that Arrow lacks, or represents differently, is stored as
// unsigned integers; the metadata of the field has the dtype.
var valueTypes = map[string]arrow.DataType{
	graph.Bool.String():     arrow.PrimitiveTypes.Uint8,
	graph.Int8.String():     arrow.PrimitiveTypes.Int8,
	graph.Uint8.String():    arrow.PrimitiveTypes.Uint8,
	graph.Int16.String():    arrow.PrimitiveTypes.Int16,
	graph.Uint16.String():   arrow.PrimitiveTypes.Uint16,
	graph.Int32.String():    arrow.PrimitiveTypes.Int32,
	graph.Uint32.String():   arrow.PrimitiveTypes.Uint32,
	graph.Int64.String():    arrow.PrimitiveTypes.Int64,
	graph.Uint64.String():   arrow.PrimitiveTypes.Uint64,
	graph.Float16.String():  arrow.FixedWidthTypes.Float16,
	graph.BFloat16.String(): arrow.PrimitiveTypes.Uint16,
	graph.Float32.String():  arrow.PrimitiveTypes.Float32,
	graph.Float64.String():  arrow.PrimitiveTypes.Float64,
}

// schemaOf describes the batches of a plan of a version of a store.
func schemaOf(p *answer.Plan, v *answer.Version) (*arrow.Schema, error) {
	src := p.Source
	text, err := json.Marshal(epochInfo{version, v.Name, p.Name, src.Batches(), src.Seeds(), src.SeedTypes(), src.SeedEdges(), src.Negatives(), src.Hops(), src.Ops()})
	if err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for _, c := range src.Columns() {
		value, ok := valueTypes[c.DType]
		if !ok {
			return nil, fmt.Errorf("column %q: found dtype %s, expected a number", c.Name, c.DType)
		}
		shape, err := json.Marshal(c.Shape)
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: arrow.ListOfNonNullable(value),
			Metadata: arrow.NewMetadata([]string{"dtype", "shape"}, []string{c.DType, string(shape)})})
	}
	meta := arrow.NewMetadata([]string{metadataKey}, []string{string(text)})
	return arrow.NewSchema(fields, &meta), nil
}
