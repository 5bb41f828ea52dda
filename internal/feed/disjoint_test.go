//go:build unix

package feed

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
)

// timed adds a column of times to every edge type of the test graph.
func timed() *graph.Graph {
	g := testGraph()
	for _, e := range g.Edges {
		times := make([]int64, e.Count)
		for i := range times {
			times[i] = int64(i * 31 % 100)
		}
		e.Columns = append(e.Columns, &graph.Column{Name: "time", DType: graph.Int64, Rows: e.Count, Values: graph.Bytes(times)})
	}
	return g
}

// planned is a source of batches of the seeds of the job, of 16 seeds where it sets no batch size.
func planned(t *testing.T, g *graph.Graph, o sample.FanoutOptions, job sample.Job, f Features) *Source {
	t.Helper()
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{4, 3}}, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, p, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	job.BatchSize, job.Seed = cmp.Or(job.BatchSize, 16), 9
	src, err := NewSource(s, job, f, false)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// batchOf is the columns of a batch by name.
func batchOf(t *testing.T, src *Source, epoch uint64, b int) map[string][]byte {
	t.Helper()
	m := src.Maker()
	if b > 0 { // the buffers have held another batch
		if _, err := m.Batch(src.Epoch(epoch), epoch, 0); err != nil {
			t.Fatal(err)
		}
	}
	size, err := m.Batch(src.Epoch(epoch), epoch, b)
	if err != nil {
		t.Fatal(err)
	}
	if int64(size) > src.slot {
		t.Errorf("batch %d: found %d bytes, expected at most %d", b, size, src.slot)
	}
	out := map[string][]byte{}
	for i, c := range src.Columns() {
		dst := graph.Bytes(make([]uint64, (m.Rows(i)*m.RowBytes(i)+7)/8))[:m.Rows(i)*m.RowBytes(i)]
		m.Fill(i, dst)
		out[c.Name] = dst
	}
	return out
}

func int64s(b []byte) []int64 { return graph.View[int64](b) }

// Under scope seed a batch has the subgraphs of its seeds side by side. The subgraph of each seed equals the one of the
// sampler for the seed alone. Nodes and edges come hop by hop.
func TestDisjoint(t *testing.T) {
	var nodes, links []uint32
	var times []sample.Time
	for i := range uint32(100) {
		nodes = append(nodes, i*7%500, i%3) // some occur twice in a batch
		links = append(links, i*13%300, i*7%500)
	}
	for i := range 200 {
		times = append(times, sample.IntTime(int64(i%120)))
	}
	for name, c := range map[string]struct {
		o   sample.FanoutOptions
		job sample.Job
	}{
		"nodes":      {sample.FanoutOptions{SeedType: []string{"user"}}, sample.Job{Seeds: nodes, Shuffle: true}},
		"expand all": {sample.FanoutOptions{SeedType: []string{"user"}, Expand: sample.ExpandAll}, sample.Job{Seeds: nodes}},
		"links":      {sample.FanoutOptions{SeedType: []string{"item", "user"}, Dir: graph.Out}, sample.Job{Seeds: links, Shuffle: true}},
		"one type":   {sample.FanoutOptions{SeedType: []string{"user", "user"}}, sample.Job{Seeds: nodes}},
		"before":     {sample.FanoutOptions{SeedType: []string{"user"}, Before: &sample.Before{Column: "time"}}, sample.Job{Seeds: nodes, Times: times, Shuffle: true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := timed()
			c.o.Scope = sample.ScopeSeed
			src := planned(t, g, c.o, c.job, Features{Nodes: map[string][]string{"user": {"x"}}})
			width, x := len(c.o.SeedType), src.sampler.NewContext()
			for b := range src.Batches() {
				got := batchOf(t, src, 3, b)
				input, local := int64s(got["input_id"]), int64s(got["seed_local"])
				nodesByHop, edgesByHop := make([][]int64, len(g.Nodes)), make([][]int64, len(g.Edges))
				for i, at := range input {
					in := sample.Input{Seeds: c.job.Seeds[int(at)*width : (int(at)+1)*width], Seed: 9, Epoch: 3}
					if c.job.Times != nil {
						in.Time = c.job.Times[at]
						want, _, _ := in.Time.Number()
						if v := int64s(got["seed_time"])[i]; v != want {
							t.Fatalf("seed %d: found time %d, expected %d", i, v, want)
						}
					}
					sub, err := x.Sample(in)
					if err != nil {
						t.Fatal(err)
					}
					places := make([][]int64, len(g.Nodes)) // of the seed's nodes in the batch
					for k, n := range g.Nodes {
						ids, of := int64s(got["nodes/"+n.Type+"/n_id"]), int64s(got["nodes/"+n.Type+"/batch"])
						var mine []uint32
						for place, seed := range of {
							if seed == int64(i) {
								places[k] = append(places[k], int64(place))
								mine = append(mine, uint32(ids[place]))
							}
						}
						if !slices.Equal(mine, sub.Nodes[k]) {
							t.Fatalf("batch %d, seed %d: found nodes %v of %s, expected %v", b, i, mine, n.Type, sub.Nodes[k])
						}
						nodesByHop[k] = added(nodesByHop[k], sub.NodesByHop[k])
						for j, place := range places[k] {
							if h, want := hopOf(int64s(got["nodes/"+n.Type+"/by_hop"]), place), hopOf(added(nil, sub.NodesByHop[k]), int64(j)); h != want {
								t.Fatalf("batch %d, seed %d: found node %d of %s in hop %d, expected hop %d", b, i, j, n.Type, h, want)
							}
						}
					}
					for k, e := range g.Edges {
						ends := int64s(got["edges/"+e.Type.String()+"/edge_index"])
						ids := int64s(got["edges/"+e.Type.String()+"/e_id"])
						src, dst := g.NodeType(e.Type.Src), g.NodeType(e.Type.Dst)
						seen := 0
						for j, id := range ids {
							if int64s(got["nodes/"+e.Type.Src+"/batch"])[ends[j]] != int64(i) {
								continue
							}
							want := sub.Edges[k]
							if ends[j] != places[src][want.Src[seen]] || ends[len(ids)+j] != places[dst][want.Dst[seen]] || id != int64(graph.View[uint32](e.Columns[0].Values)[want.ID.At(seen)]) {
								t.Fatalf("batch %d, seed %d: found another edge %d of %s", b, i, seen, e.Type)
							}
							seen++
						}
						if seen != sub.Edges[k].ID.Len() {
							t.Fatalf("batch %d, seed %d: found %d edges of %s, expected %d", b, i, seen, e.Type, sub.Edges[k].ID.Len())
						}
						edgesByHop[k] = added(edgesByHop[k], sub.EdgesByHop[k])
					}
					for end, v := range sub.SeedLocal {
						if want := places[g.NodeType(c.o.SeedType[end])][v]; local[i*width+end] != want {
							t.Fatalf("batch %d, seed %d: found it at %d, expected %d", b, i, local[i*width+end], want)
						}
						if width == 1 && local[i] != int64(i) {
							t.Fatalf("batch %d: found seed %d at %d, expected the seeds in front", b, i, local[i])
						}
					}
				}
				for k, n := range g.Nodes {
					if by := int64s(got["nodes/"+n.Type+"/by_hop"]); !slices.Equal(by, nodesByHop[k]) {
						t.Fatalf("batch %d: found %v nodes of %s by hop, expected %v", b, by, n.Type, nodesByHop[k])
					}
				}
				for k, e := range g.Edges {
					if by := int64s(got["edges/"+e.Type.String()+"/by_hop"]); !slices.Equal(by, edgesByHop[k]) {
						t.Fatalf("batch %d: found %v edges of %s by hop, expected %v", b, by, e.Type, edgesByHop[k])
					}
				}
			}
		})
	}
}

// added is sums plus counts, place by place. sums may be shorter.
func added(sums []int64, counts []uint32) []int64 {
	for i, n := range counts {
		if i == len(sums) {
			sums = append(sums, 0)
		}
		sums[i] += int64(n)
	}
	return sums
}

// hopOf is the hop of an item, given the number of items of each hop.
func hopOf(counts []int64, at int64) int {
	for h, n := range counts {
		if at < n {
			return h
		}
		at -= n
	}
	return -1
}

// Links are sampled a batch at a time as by the sampler, and come with their columns.
func TestLinks(t *testing.T) {
	var job sample.Job
	score := make([]float32, 0, 200)
	for i := range uint32(100) {
		job.Seeds = append(job.Seeds, i*13%300, i*7%500)
		score = append(score, float32(i), -float32(i))
	}
	job.Shuffle = true
	column := &graph.Column{Name: "score", DType: graph.Float32, Shape: []int{2}, Rows: 100, Values: graph.Bytes(score)}
	o := sample.FanoutOptions{SeedType: []string{"item", "user"}, Scope: sample.ScopeBatch}
	src := planned(t, testGraph(), o, job, Features{Links: widening.Own([]*graph.Column{column})})
	if src.Seeds() != 100 || src.Batches() != 7 {
		t.Errorf("found %d links in %d batches, expected 100 in 7", src.Seeds(), src.Batches())
	}
	x := src.sampler.NewContext()
	for b := range src.Batches() {
		got := batchOf(t, src, 1, b)
		var seeds []uint32
		for i, at := range int64s(got["input_id"]) {
			seeds = append(seeds, job.Seeds[2*at:2*at+2]...)
			if row := graph.View[float32](got["links/score"])[2*i : 2*i+2]; row[0] != float32(at) || row[1] != -float32(at) {
				t.Errorf("link %d: found score %v", at, row)
			}
		}
		sub, err := x.Sample(sample.Input{Seeds: seeds, Seed: 9, Epoch: 1, Unit: uint64(b)})
		if err != nil {
			t.Fatal(err)
		}
		if want := added(nil, sub.SeedLocal); !slices.Equal(int64s(got["seed_local"]), want) {
			t.Errorf("batch %d: found seeds at %v, expected %v", b, int64s(got["seed_local"]), want)
		}
		for k, n := range src.sampler.Graph().Nodes {
			if ids := int64s(got["nodes/"+n.Type+"/n_id"]); !slices.Equal(ids, added(nil, sub.Nodes[k])) {
				t.Errorf("batch %d: found other nodes of %s", b, n.Type)
			}
		}
	}
	column.Rows = 99
	if _, err := NewSource(src.sampler, src.job, Features{Links: widening.Own([]*graph.Column{column})}, false); err == nil || !strings.Contains(err.Error(), "99 rows, expected 100") {
		t.Errorf("found %v, expected an error of the rows", err)
	}
}

// Links of SAMPLE are sampled with the draws that the request names.
func TestLinksAskedFor(t *testing.T) {
	job := sample.Job{Seeds: []uint32{0, 0}}
	src := planned(t, testGraph(), sample.FanoutOptions{SeedType: []string{"item", "user"}, Scope: sample.ScopeBatch}, job, Features{})
	m := src.Maker()
	if _, err := m.Of([]int64{5, 6, 299, 499}, 2, 77); err != nil {
		t.Fatal(err)
	}
	sub, err := src.sampler.NewContext().Sample(sample.Input{Seeds: []uint32{5, 6, 299, 499}, Seed: 9, Epoch: 2, Unit: 77})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.made.sub.Nodes[0], sub.Nodes[0]) || !slices.Equal(m.made.input, []uint64{0, 1}) {
		t.Errorf("found input %v and nodes %v, expected two links and %v", m.made.input, m.made.sub.Nodes[0], sub.Nodes[0])
	}
	for want, seeds := range map[string][]int64{"pairs": {1}, "seed 1: found node 300": {0, 0, 300, 0}, "seed 0: found node 500": {0, 500}, "found node -1": {-1, 0}} {
		if _, err := m.Of(seeds, 0, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: found %v, expected an error with %q", seeds, err, want)
		}
	}
}

// Times that are floats come as floats.
func TestSeedTimes(t *testing.T) {
	job := sample.Job{Seeds: []uint32{1, 2}, Times: []sample.Time{sample.FloatTime(0.5), sample.FloatTime(math.Inf(1))}}
	src := planned(t, timed(), sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeSeed, Before: &sample.Before{Column: "time"}}, job, Features{})
	got := batchOf(t, src, 0, 0)["seed_time"]
	if a, b := math.Float64frombits(binary.LittleEndian.Uint64(got)), math.Float64frombits(binary.LittleEndian.Uint64(got[8:])); a != 0.5 || !math.IsInf(b, 1) {
		t.Errorf("found times %v and %v, expected 0.5 and +Inf", a, b)
	}
	if info := src.Columns()[len(src.Columns())-1]; info.Name != "seed_time" || info.DType != "float64" {
		t.Errorf("found %+v, expected float64", info)
	}
	if _, err := src.Maker().Of([]int64{1}, 0, 0); err == nil || !strings.Contains(err.Error(), "seeds without times") {
		t.Errorf("found %v, expected an error of times", err)
	}
	for want, change := range map[string]func(*sample.Job, *bool){
		"found no times of seeds": func(j *sample.Job, _ *bool) { j.Times = nil },
		"1 times for 2 seeds":     func(j *sample.Job, _ *bool) { j.Times = j.Times[:1] },
		"found ops with scope":    func(_ *sample.Job, ops *bool) { *ops = true },
	} {
		j, ops := src.job, false
		change(&j, &ops)
		if _, err := NewSource(src.sampler, j, Features{}, ops); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected an error with %q", err, want)
		}
	}
}

// TestHugeBatchSizes checks that a batch size larger than the number of seeds makes one batch of them, also where
// products with it would overflow.
func TestHugeBatchSizes(t *testing.T) {
	for _, scope := range []sample.Scope{sample.ScopeBatch, sample.ScopeSeed} {
		for _, size := range []int{1 << 40, 1 << 62, math.MaxInt} {
			src := planned(t, testGraph(), sample.FanoutOptions{SeedType: []string{"user"}, Scope: scope}, sample.Job{Seeds: []uint32{3, 1, 4}, BatchSize: size}, Features{})
			if src.Batches() != 1 || src.slot <= mostSlotBytes {
				t.Errorf("scope %s, size %d: found %d batches and slots of %d bytes", scope, size, src.Batches(), src.slot)
			}
			if got := int64s(batchOf(t, src, 0, 0)["input_id"]); !slices.Equal(got, []int64{0, 1, 2}) {
				t.Errorf("scope %s, size %d: found seeds %d", scope, size, got)
			}
		}
	}
}
