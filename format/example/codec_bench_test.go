package example

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchSchema is the schema of a sampled subgraph with some features.
const benchSchema = `
context { features { key: "label" value { dtype: DT_INT64 } } }
node_sets { key: "paper" value {
  features { key: "#id" value { dtype: DT_STRING } }
  features { key: "year" value { dtype: DT_INT64 } }
  features { key: "feat" value { dtype: DT_FLOAT shape { dim { size: 8 } } } } } }
edge_sets { key: "cites" value { source: "paper" target: "paper" features { key: "w" value { dtype: DT_FLOAT } } } }`

// benchGraph has 30 nodes and 36 edges, like a subgraph of fan-outs 10,5.
func benchGraph(t testing.TB, codec *Codec) *GraphTensor {
	const nodes, edges = 30, 36
	ids, years, feat := make([]string, nodes), make([]int64, nodes), make([]float32, nodes*8)
	src, dst, w := make([]int64, edges), make([]int64, edges), make([]float32, edges)
	for i := range ids {
		ids[i], years[i] = fmt.Sprintf("n%d%s", i*7919, strings.Repeat("x", i%5)), int64(1990+i)
	}
	for i := range feat {
		feat[i] = float32(i) / 7
	}
	for i := range src {
		src[i], dst[i], w[i] = int64(i/2), int64(i%nodes), float32(i)
	}
	features, err := Dense([]int{8}, feat)
	if err != nil {
		t.Fatal(err)
	}
	g := &GraphTensor{
		Context: map[string]*Tensor{"label": Scalars[int64](349)},
		NodeSets: map[string]*NodeSet{"paper": {Sizes: []int64{nodes}, Features: map[string]*Tensor{
			"#id": Scalars(ids...), "year": Scalars(years...), "feat": features}}},
		EdgeSets: map[string]*EdgeSet{"cites": {Sizes: []int64{edges}, SourceIndex: src, TargetIndex: dst, Features: map[string]*Tensor{"w": Scalars(w...)}}},
	}
	if err := codec.Check(g); err != nil {
		t.Fatal(err)
	}
	return g
}

// Neither direction allocates, once the buffers have grown.
func TestCodecAllocatesNothing(t *testing.T) {
	codec := newCodec(t, benchSchema)
	var w Writer
	g, h := benchGraph(t, codec), codec.New()
	if n := testing.AllocsPerRun(100, func() {
		record, err := codec.Encode(&w, g)
		if err != nil {
			t.Fatal(err)
		}
		if err := codec.Decode(record, h, false); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("found %v allocations an Example, expected none", n)
	}
	if d := equalGraphs(g, h); d != "" && !strings.Contains(d, "Source") {
		t.Error(d)
	}
}

func BenchmarkCodec(b *testing.B) {
	codec := newCodec(b, benchSchema)
	var w Writer
	g := benchGraph(b, codec)
	record, err := codec.Encode(&w, g)
	if err != nil {
		b.Fatal(err)
	}
	record = bytes.Clone(record)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(record)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.Encode(&w, g); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		h := codec.New()
		b.SetBytes(int64(len(record)))
		b.ReportAllocs()
		for b.Loop() {
			if err := codec.Decode(record, h, false); err != nil {
				b.Fatal(err)
			}
		}
	})
}
