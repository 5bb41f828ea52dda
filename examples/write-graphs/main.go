package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfrecord"
)

// The schema lists the sets and their features. It must be kept with the data, which cannot be read without
// it.
//
//go:embed schema.pbtxt
var schemaText []byte

// class is the original form of the data: one class becomes one graph.
type class struct {
	name     string
	students []student
}

type student struct {
	name   string
	scores []int64
	x, y   float32
	helps  map[string]float32 // hours, by the name of the other student
}

// readClasses stands for your own data source: a database, a file, a service.
func readClasses() []class {
	return []class{
		{"1a", []student{
			{"Ada", []int64{10, 15, 23}, 0, 0, map[string]float32{"Ben": 1.5}},
			{"Ben", []int64{89}, 1, 0, nil},
			{"Cleo", []int64{64, 53, 25, 29}, 0, 1, map[string]float32{"Ada": 0.5, "Ben": 2}},
		}},
		{"1b", []student{
			{"Dan", nil, 2.5, 1, nil}, // no scores yet: an empty row
		}},
	}
}

// graph makes the GraphTensor of a class. If parts do not fit together (a missing row, an edge to a student
// that does not exist), Encode returns an error that names the set and the feature.
func graph(c class) (*example.GraphTensor, error) {
	var (
		names     []string
		scores    [][]int64
		positions []float32
		place     = map[string]int64{} // index of a student: edges refer to nodes by index
	)
	for i, s := range c.students {
		names, scores, positions = append(names, s.name), append(scores, s.scores), append(positions, s.x, s.y)
		place[s.name] = int64(i)
	}
	position, err := example.Dense([]int{2}, positions)
	if err != nil {
		return nil, err
	}
	var (
		source, target []int64
		hours          []float32
	)
	for _, s := range c.students {
		for _, other := range c.students { // in the order of the students, not of the map
			if h, ok := s.helps[other.name]; ok {
				source, target, hours = append(source, place[s.name]), append(target, place[other.name]), append(hours, h)
			}
		}
	}
	return &example.GraphTensor{
		Context: map[string]*example.Tensor{"class": example.Scalars(c.name)},
		NodeSets: map[string]*example.NodeSet{"students": {
			Sizes: []int64{int64(len(c.students))},
			Features: map[string]*example.Tensor{
				"name":     example.Scalars(names...),
				"scores":   example.RaggedFromRows(scores),
				"position": position,
			},
		}},
		EdgeSets: map[string]*example.EdgeSet{"helps": {
			Sizes: []int64{int64(len(source))}, SourceIndex: source, TargetIndex: target,
			Features: map[string]*example.Tensor{"hours": example.Scalars(hours...)},
		}},
	}, nil
}

// writeClasses writes the records of all classes to a file.
func writeClasses(file string, codec *example.Codec) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(f)
	var (
		w     example.Writer // its memory is reused for every record
		frame []byte
	)
	for _, c := range readClasses() {
		g, err := graph(c)
		if err != nil {
			return fmt.Errorf("class %s: %w", c.name, err)
		}
		record, err := codec.Encode(&w, g)
		if err != nil {
			return fmt.Errorf("class %s: %w", c.name, err)
		}
		frame = tfrecord.AppendFrame(frame[:0], record)
		if _, err := out.Write(frame); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeGraphs(dir string) error {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", schemaText)
	if err != nil {
		return err
	}
	codec, err := example.NewCodec(schema)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "schema.pbtxt"), schemaText, 0o666); err != nil {
		return err
	}
	return writeClasses(filepath.Join(dir, "graphs.tfrecord"), codec)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write-graphs DIR")
		os.Exit(2)
	}
	if err := writeGraphs(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "write-graphs:", err)
		os.Exit(1)
	}
}
