package cluster

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
)

// steps is how the ops of a plan are divided among the stages, and how ranges are numbered.
//
// An op that starts from the seeds alone is near: Start draws it, and Assemble draws it again, because that costs less
// than its answers would. Every other op is far, and belongs to a Range stage: one after the latest stage of the ops that
// it starts from. So a request can pass stages on its way.
type steps struct {
	stages int        // Range stages
	stage  []int      // by op, op 0 included: 0 for near ops, else the Range stage from 1
	next   [][]uint32 // by op, op 0 included: the far ops that start from it
	walks  []walk
	walkOf []int // by op, op 0 included
	width  []int // by op, op 0 included: bytes of a far end in answers
	// By op, op 0 included: bytes of an edge id in answers, 0 where they have none, and whether ids have 64 bits elsewhere.
	idWidth []int
	wide    []bool
	waves   int64 // number of waves

	farCount []int // by op, op 0 included: nodes of the far type
}

// walk is an edge type and a direction that far ops follow. Its near nodes are divided into ranges, which have consecutive
// numbers from first on.
type walk struct {
	edges  int
	dir    graph.Direction
	count  int // nodes of the near type
	nodes  int // per range
	first  int64
	ranges int64
}

// plan divides the ops.
func (s *Site) plan() {
	p, ops := s.sampler.Plan(), len(s.sampler.Plan().Ops)
	t := steps{stage: make([]int, ops+1), next: make([][]uint32, ops+1), walkOf: make([]int, ops+1), width: make([]int, ops+1), idWidth: make([]int, ops+1), wide: make([]bool, ops+1), farCount: make([]int, ops+1),
		waves: int64((s.Work.Groups() + s.Work.WaveGroups - 1) / s.Work.WaveGroups)}
	var first int64
	for op := 1; op <= ops; op++ {
		o := &p.Ops[op-1]
		if slices.ContainsFunc(o.From, func(f int) bool { return f > 0 }) {
			for _, f := range o.From {
				t.stage[op] = max(t.stage[op], t.stage[f]+1)
			}
			if o.Take != 0 {
				for _, f := range slices.Compact(slices.Sorted(slices.Values(o.From))) {
					t.next[f] = append(t.next[f], uint32(op))
				}
			}
		}
		t.stages = max(t.stages, t.stage[op])
		g := s.graph()
		edges, dir := s.sampler.Walk(op)
		at := slices.IndexFunc(t.walks, func(w walk) bool { return w.edges == edges && w.dir == dir })
		if at < 0 {
			count := g.Nodes[g.NodeType(g.Edges[edges].Type.Near(dir))].Count
			nodes := s.Work.RangeNodes
			for (count+nodes-1)/nodes > s.Work.MostRanges {
				nodes *= 2
			}
			at = len(t.walks)
			t.walks = append(t.walks, walk{edges: edges, dir: dir, count: count, nodes: nodes, first: first, ranges: int64((count + nodes - 1) / nodes)})
			first += t.walks[at].ranges
		}
		t.walkOf[op] = at
		if t.wide[op] = s.sampler.Wide(edges); needsIDs(s.sampler, s.Work.Records, edges) {
			t.idWidth[op] = numberBytes(g.Edges[edges].Count)
		}
		t.farCount[op] = g.Nodes[g.NodeType(g.Edges[edges].Type.Far(dir))].Count
		t.width[op] = numberBytes(t.farCount[op])
	}
	s.steps = t
	s.ranges.have = make([]atomic.Pointer[sample.Range], first)
}

// numberBytes is the bytes that each number below n fits.
func numberBytes(n int) int { return max((bits.Len(uint(max(n-1, 0)))+7)/8, 1) }

// needsIDs says whether the output needs the ids of edges of a type: to list them, to join columns, or to find repeats. records is nil for a collection.
func needsIDs(m *sample.Sampler, records *Records, edges int) bool {
	if m.Repeats(edges) {
		return true
	}
	if records != nil {
		// The formats of TF-GNN order edges and drop repeats by id.
		return records.Compat != 0 || slices.ContainsFunc(m.Graph().Edges[edges].Columns, output.Writes)
	}
	return m.EdgeIDs()
}

// planStages lists the stages of the job.
func (s *Site) planStages() []stages.Stage {
	list := s.planPieces()
	s.write = len(list)
	if s.Work.Shards > 1 {
		list = append(list, stages.Stage{Name: "write", Tasks: int64(s.Work.Shards), Inputs: []stages.Input{{From: s.write - 1, For: s.write}}})
	}
	return list
}

// planPieces lists the stages that make the pieces.
func (s *Site) planPieces() []stages.Stage {
	w := s.Work
	if w.Method == Local {
		return []stages.Stage{{Name: "sample", Tasks: int64(w.Groups())}}
	}
	list := []stages.Stage{{Name: "start", Tasks: int64(w.Groups())}}
	add := func(name string, froms, of int) { // a stage that reads what the first froms stages gave to stage of
		stage := stages.Stage{Name: name, Tasks: w.Share}
		for from := range froms {
			stage.Inputs = append(stage.Inputs, stages.Input{From: from, For: of})
		}
		list = append(list, stage)
	}
	for n := 1; n <= s.steps.stages; n++ {
		add(fmt.Sprint("range ", n), n, n)
	}
	s.groups = len(list)
	if len(s.tables) == 0 {
		add("assemble", s.groups, s.groups)
		return list
	}
	add("want", s.groups, s.groups)
	list = append(list, stages.Stage{Name: "rows", Tasks: w.Share, Inputs: []stages.Input{{From: s.groups, For: s.rows()}}})
	add("assemble", s.groups, s.groups) // the answers once more
	last := &list[len(list)-1]
	last.Inputs = append(last.Inputs, stages.Input{From: s.rows(), For: s.rows() + 1})
	return list
}

// rows is the number of the stage rows, where there is one.
func (s *Site) rows() int { return s.groups + 1 }

// key is the key of the range of a node that a far op expands, for the requests of a group, and the first node of the
// range.
func (s *Site) key(op int, v uint32, group uint64) (key int64, first uint32) {
	w := &s.steps.walks[s.steps.walkOf[op]]
	n := int(v) / w.nodes
	return (w.first+int64(n))*s.steps.waves + int64(group/s.Work.WaveGroups), uint32(n * w.nodes)
}

// rangeOf is the number of the walk and the first node of the range of a key.
func (s *Site) rangeOf(key int64) (walk, first int, err error) {
	at := key / s.steps.waves
	for i := range s.steps.walks {
		w := &s.steps.walks[i]
		if at >= w.first && at < w.first+w.ranges {
			return i, int(at-w.first) * w.nodes, nil
		}
	}
	return 0, 0, fmt.Errorf("found key %d of a range, expected a key of one of the %d walks", key, len(s.steps.walks))
}
