package examplefiles

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// BenchmarkTFRecord reads nodes of an id, a label and 16 floats.
func BenchmarkTFRecord(b *testing.B) {
	const nodes = 200000
	label := example.NewKey("label")
	var data []byte
	var w example.Writer
	for i := range nodes {
		w.Reset()
		w.Int(label, int64(i%40))
		addFloats(&w, "feat", make([]float32, 16)...)
		addTexts(&w, "#id", fmt.Sprintf("node-%d", i))
		data = tfrecord.AppendFrame(data, w.Close())
	}
	path := filepath.Join(b.TempDir(), "n.tfrecord")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.Fatal(err)
	}
	t, err := OpenTFRecord(vfs.OS, []string{path})
	if err != nil {
		b.Fatal(err)
	}
	columns := []table.Column{{Name: "#id", DType: graph.String, ID: true}, {Name: "label", DType: graph.Int32}, {Name: "feat", DType: graph.Float32, Shape: []int{16}}}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if rows, err := t.Scan(context.Background(), columns, threads, func(int, *table.Chunk) error { return nil }); err != nil || rows != nodes {
					b.Fatal(rows, err)
				}
			}
			b.ReportMetric(nodes*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
