package graphmill_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// From CSV tables to batches with features, and to packs of one shape. This is the program of examples/library.
func Example() {
	ctx, tables, out := context.Background(), "testdata/library", temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.Import(ctx, tables, out+"/papers.store", option.Import{})
	check(err)
	defer st.Close()

	for b, err := range graphmill.Batches(ctx, st, option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 4}}) {
		check(err)
		x, err := graphmill.Column[float32](b, "paper", "x")
		check(err)
		src, _ := b.Edges("paper:cites:paper")
		fmt.Printf("batch %d: %d nodes, %d edges, first row %v\n", b.Number, len(b.Nodes("paper")), len(src), x[:2])
	}

	_, err = graphmill.Sample(ctx, st, out+"/subgraphs", option.Sample{Draw: option.Draw{Fanout: []int{3, 2}, Scope: option.ScopeSeed}})
	check(err)
	limits := []option.PackLimit{{Component: "num_nodes", Max: 8}, {Component: "num_edges", Max: 8}}
	p, err := graphmill.Pack(ctx, out+"/subgraphs", out+"/packs", option.Pack{Limits: limits})
	check(err)
	fmt.Printf("%d subgraphs in %d packs\n", p.Graphs, p.Packs)
	// Output:
	// batch 0: 5 nodes, 5 edges, first row [0.9 0.1]
	// batch 1: 1 nodes, 0 edges, first row [0.3 0.8]
	// 5 subgraphs in 2 packs
}

// Tables that a graph.yaml names become a store; so does an edge list by itself.
func ExampleImport() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.Import(ctx, "testdata/library/cites.csv", out+"/cites.store", option.Import{Symmetrise: true})
	check(err)
	defer st.Close()
	for _, e := range st.Graph().Edges {
		fmt.Println(e.Type, e.Count)
	}
	// Output: _N:_E:_N 10
}

// Batches come in the shuffled order of each epoch, with the features of their nodes.
func ExampleBatches() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.Import(ctx, "testdata/library", out+"/papers.store", option.Import{})
	check(err)
	defer st.Close()
	for b, err := range graphmill.Batches(ctx, st, option.Batches{Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{BatchSize: 3, Shuffle: true, Epochs: 2, Seed: 1}}) {
		check(err)
		fmt.Println(b.Epoch, b.Number, b.Nodes("paper")[:len(b.Seeds())])
	}
	// Output:
	// 0 0 [2 0 1]
	// 0 1 [4 3]
	// 1 0 [3 2 0]
	// 1 1 [4 1]
}

// The batches of a run are divided among several processes by rank.
func ExampleSample() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.GenerateRMAT(ctx, out+"/g.store", option.RMAT{Scale: 10, Seed: 1})
	check(err)
	defer st.Close()
	for rank := range 2 {
		_, err := graphmill.Sample(ctx, st, fmt.Sprintf("%s/rank%d", out, rank), option.Sample{Draw: option.Draw{Fanout: []int{15, 10}}, Batching: option.Batching{BatchSize: 256, Rank: rank, Ranks: 2}})
		check(err)
		c, err := graphmill.Open(fmt.Sprintf("%s/rank%d", out, rank))
		check(err)
		fmt.Println(c.Collection().Graphs, "batches")
		check(c.Close())
	}
	// Output:
	// 2 batches
	// 2 batches
}

// A histogram of graph sizes is packed, without writing a layout: how few packs are enough?
func ExamplePack() {
	out := temporary()
	defer os.RemoveAll(out)
	check(os.WriteFile(out+"/sizes.csv", []byte("num_nodes,num_edges,count\n10,20,600\n25,50,300\n40,90,100\n"), 0o644))
	p, err := graphmill.Pack(context.Background(), out+"/sizes.csv", "", option.Pack{Limits: []option.PackLimit{{Component: "num_nodes", Max: 50}, {Component: "num_edges", Max: 110}}})
	check(err)
	fmt.Println(p.Packs, "packs, at least", p.LowerBound)
	// Output: 350 packs, at least 350
}

// A graph is divided into parts, which are written for DGL's distributed training and verified against the store.
func ExampleDispatch() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.GenerateCommunity(ctx, out+"/g.store", option.Community{Nodes: 2000, Seed: 1})
	check(err)
	check(st.Close())

	d, err := graphmill.Partition(ctx, out+"/g.store", out+"/g.parts", option.Partition{Parts: 4})
	check(err)
	_, err = graphmill.Dispatch(ctx, out+"/g.store", out+"/g.parts", out+"/parts", option.Dispatch{DGLParts: option.DGLParts{SaveOrigNids: true, SaveOrigEids: true}})
	check(err)
	v, err := graphmill.Verify(ctx, out+"/parts", option.Verify{Against: out + "/g.store"})
	check(err)
	fmt.Println(d.Parts, "parts, within the balance:", d.Within, "whole:", v.OK)
	// Output: 4 parts, within the balance: true whole: true
}

// A forecast tells which executor a run would take, before it takes long.
func ExampleForecast() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.GenerateRMAT(ctx, out+"/g.store", option.RMAT{Scale: 12, Seed: 1})
	check(err)
	defer st.Close()

	f, err := graphmill.Forecast(ctx, st, option.Sample{Draw: option.Draw{Fanout: []int{15, 10}, Executor: option.ExecutorStream}, Batching: option.Batching{Epochs: 3}})
	check(err)
	fmt.Println(f.Executor, f.Design)
	// Output: stream windows
}

// A sampled collection becomes TFRecords that TF-GNN reads, with the features of the store that it was sampled from.
func ExampleExport() {
	ctx, out := context.Background(), temporary()
	defer os.RemoveAll(out)
	st, err := graphmill.Import(ctx, "testdata/library", out+"/papers.store", option.Import{})
	check(err)
	defer st.Close()
	_, err = graphmill.Sample(ctx, st, out+"/subgraphs", option.Sample{Draw: option.Draw{Fanout: []int{3, 2}, Scope: option.ScopeSeed}})
	check(err)

	_, err = graphmill.Export(ctx, out+"/subgraphs", out+"/records", option.Export{To: option.FormatTFRecord, Store: out + "/papers.store"})
	check(err)
	files, err := filepath.Glob(out + "/records/*.tfrecord*")
	check(err)
	fmt.Println(len(files), filepath.Base(files[0]))
	// Output: 1 samples.tfrecord-00000-of-00001
}

// An option that is wrong is an error of its own kind, whose text names the field.
func ExampleGenerateRMAT_errUsage() {
	_, err := graphmill.GenerateRMAT(context.Background(), "g.store", option.RMAT{Scale: 99})
	fmt.Println(errors.Is(err, graphmill.ErrUsage), err)
	// Output: true found R-MAT scale 99, expected 1 to 31
}

func temporary() string {
	dir, err := os.MkdirTemp("", "graphmill")
	check(err)
	return dir
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
