package example

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Checks the keys, dtypes and partitions. peer_interop_test.go checks that they are TF-GNN's.
func TestIOSpec(t *testing.T) {
	const (
		int32s = tfgnnpb.DataType_DT_INT32
		int64s = tfgnnpb.DataType_DT_INT64
		floats = tfgnnpb.DataType_DT_FLOAT
		text   = tfgnnpb.DataType_DT_STRING
	)
	ragged := `node_sets { key: "n" value { features { key: "r" value { dtype: DT_STRING shape { dim { size: 2 } dim { size: -1 } dim { size: 3 } } } } } }`
	context := `context { features { key: "c" value { dtype: DT_HALF shape { dim { size: 4 } } } } } `
	for _, c := range []struct {
		name, schema string
		want         []IOFeature
	}{
		{"ragged sets", context + ragged, []IOFeature{
			{Key: "context/c", DType: floats, Fixed: true, Shape: []int{1, 4}},
			{Key: "nodes/n.#size", DType: int64s, Fixed: true, Shape: []int{1}, Zero: true},
			{Key: "nodes/n.r", DType: text, Partitions: []Partition{{Length: 2}, {Key: "nodes/n.r.d2"}, {Length: 3}}, RowSplits: int32s}}},
		{"edges", ragged + `edge_sets { key: "e" value { source: "n" target: "n" features { key: "w" value { dtype: DT_BOOL shape { dim { size: 2 } } } } } }`, []IOFeature{
			{Key: "edges/e.#size", DType: int64s, Fixed: true, Shape: []int{1}, Zero: true},
			{Key: "edges/e.#source", DType: int64s, RowSplits: int32s},
			{Key: "edges/e.#target", DType: int64s, RowSplits: int32s},
			{Key: "edges/e.w", DType: int64s, Partitions: []Partition{{Length: 2}}, RowSplits: int32s},
			{Key: "nodes/n.#size", DType: int64s, Fixed: true, Shape: []int{1}, Zero: true},
			{Key: "nodes/n.r", DType: text, Partitions: []Partition{{Length: 2}, {Key: "nodes/n.r.d2"}, {Length: 3}}, RowSplits: int64s}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newCodec(t, c.schema).IOSpec()
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			relaxed := got[0].Relaxed()
			if relaxed.Fixed || len(relaxed.Partitions) != len(got[0].Shape)-1 || relaxed.RowSplits != int32s {
				t.Errorf("found %+v", relaxed)
			}
		})
	}
}
