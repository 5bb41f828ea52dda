package cluster

import (
	"bytes"
	"testing"

	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// fuzzSite is a Site without files: an op of 100 nodes, and a table with columns of each kind.
func fuzzSite() *Site {
	s := &Site{Work: &Work{Batches: 10, GroupBatches: 5, Epochs: 1}}
	s.steps = steps{stages: 1, stage: []int{0, 0, 1}, width: []int{1, 1, 3}, idWidth: []int{0, 0, 5}, wide: []bool{false, false, true}, farCount: []int{1, 100, 1 << 20}}
	s.tables = []rowTable{{count: 100, columns: []*graph.Column{
		{Name: "a", DType: graph.Float32, Shape: []int{2}},
		{Name: "b", DType: graph.String, Shape: []int{-1, 2}, Offsets: make([]graph.Index, 1)},
		{Name: "c", DType: graph.Int8, Shape: []int{-1, -1}, Offsets: make([]graph.Index, 2)},
	}}}
	return s
}

// FuzzRecords reads any bytes as each kind of record. They are refused, or have only what a group may ask for and get.
func FuzzRecords(f *testing.F) {
	s := fuzzSite()
	var requests requestBuffer
	requests.begin(1, 2)
	requests.b = append(requests.b, 3, 7, 0, 9)
	requests.end()
	f.Add(requests.b)
	answers := answerBuffer{s: s, emit: func(_ int, _ int64, b []byte) { f.Add(bytes.Clone(b)) }}
	answers.begin(answers.emit)
	answers.section(1, 2, 64)
	answers.add(2, 65, []uint32{5, 70000}, graph.Index{U64: []uint64{1, 1 << 33}})
	answers.add(9, 66, nil, graph.Index{})
	answers.flush()
	rows := rowTable{count: 3, columns: []*graph.Column{
		{Name: "a", DType: graph.Float32, Shape: []int{2}, Rows: 2, Values: make([]byte, 16)},
		{Name: "b", DType: graph.String, Shape: []int{-1, 2}, Rows: 2, Values: []byte("xyz"), Offsets: []graph.Index{{U64: []uint64{0, 1, 1}}}, StringOffsets: graph.Index{U64: []uint64{0, 1, 3}}},
		{Name: "c", DType: graph.Int8, Shape: []int{-1, -1}, Rows: 2, Values: []byte("pq"), Offsets: []graph.Index{{U64: []uint64{0, 1, 2}}, {U64: []uint64{0, 2, 2}}}},
	}}
	b, _, err := appendRows(nil, 0, &rows, []uint64{0, 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if list, err := sections(nil, b, 2); err == nil {
				for i := range list {
					_ = list[i].each(64, 32, func(_, v uint32) error {
						if v < 64 || v >= 96 {
							t.Errorf("found node %d, expected 64 to 95", v)
						}
						return nil
					})
				}
			}
			_ = s.eachAnswer(b, func(_ uint32, x answerAt) error {
				width := s.steps.width[x.op] + s.steps.idWidth[x.op]
				if uint64(x.at)+uint64(x.n)*uint64(width) > uint64(len(b)) {
					t.Errorf("found an answer of %d edges at %d of %d bytes", x.n, x.at, len(b))
				}
				return nil
			})
			g := newGroupRows(s)
			if g.add(b) == nil {
				for _, c := range g.tables[0].columns {
					if err := c.CheckOffsets(); err != nil {
						t.Errorf("column %s: %v", c.Name, err)
					}
				}
			}
		})
	})
}

// FuzzWork reads any text as the work that a submitter left, and any bytes as its arrays.
func FuzzWork(f *testing.F) {
	seeds, err := npy.AppendHeader(nil, "u4", []int{2})
	if err != nil {
		f.Fatal(err)
	}
	seeds = append(seeds, 1, 0, 0, 0, 2, 0, 0, 0)
	work := fmt.Sprintf(`{"format":3,"law":%d,"id":"a","plan":{"version":1},"batches":10,"group_batches":5,"batch_size":2,"method":"local","seeds":{"file":"seeds.npy","descr":"u4","len":2},"times":{"file":"times.npy","descr":"i8","len":1}}`, draw.Version)
	times, err := npy.AppendHeader(nil, "i8", []int{1})
	if err != nil {
		f.Fatal(err)
	}
	times = append(times, 1, 0, 0, 0, 0, 0, 0, 0)
	f.Add(work, seeds, times)
	f.Add(strings.Replace(work, `"local"`, `"shuffle","share":1,"range_nodes":1,"most_ranges":1,"wave_groups":1`, 1), seeds, times)
	f.Add(strings.Replace(work, `"method"`, `"records":{"name":"x","shards":2},"columns":[{"name":"c","dtype":"float32","shape":[],"rows":1}],"method"`, 1), seeds, times)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, seeds, times []byte) {
		fuzzing.Check(t, len(text)+len(seeds)+len(times), func() {
			for name, b := range map[string][]byte{workFile: []byte(text), "seeds.npy": seeds, "times.npy": times} {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w, err := readWork(vfs.OS, dir)
			if err != nil {
				return
			}
			s := &Site{Dir: dir, Work: w, fs: vfs.OS}
			if err := s.openJob(); err == nil {
				if w.Records != nil {
					_, _ = s.records()
				}
				if len(s.job.Seeds) != w.Seeds.Len || w.Times.File != "" && len(s.job.Times) != w.Times.Len {
					t.Errorf("found %d seeds and %d times, expected %d and %d", len(s.job.Seeds), len(s.job.Times), w.Seeds.Len, w.Times.Len)
				}
			}
			for _, unmap := range s.unmaps {
				if err := unmap(); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}
