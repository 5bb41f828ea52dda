package predictions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample/condition"
	"github.com/graphmill/graphmill/internal/store"
)

// known are edges whose links are left out.
type known struct {
	edges *graph.Edges
	match func(edge int) bool // nil: all
}

// findKnown finds the edges that TYPE or TYPE:COLUMN=VALUE name. Several conditions on a type are alternatives.
func findKnown(s *store.Store, texts []string, ends [2]*graph.Nodes) (out []*known, err error) {
	for _, text := range texts {
		name, test := text, ""
		if before, _, ok := strings.Cut(text, "="); ok {
			at := strings.LastIndexByte(before, ':')
			if at < 0 {
				return nil, usagef("found `Known` %q, expected the edge type before the condition, as in TYPE:%[1]s", text)
			}
			name, test = text[:at], text[at+1:]
		}
		i, err := s.Graph.EdgeType(name)
		if err != nil {
			return nil, usagef("%s: `Known`: %w", s.Dir, err)
		}
		e := s.Graph.Edges[i]
		if e.Type.Src != ends[0].Type || e.Type.Dst != ends[1].Type {
			return nil, usagef("`Known`: found %s, whose edges lead from %s to %s, expected an edge type from %s to %s; name one, or leave it out", e.Type, e.Type.Src, e.Type.Dst, ends[0].Type, ends[1].Type)
		}
		k := &known{edges: e}
		if test != "" {
			if k.match, err = condition.Matching("edge type "+e.Type.String(), e.Columns, test); err != nil {
				return nil, usagef("`Known`: %w", err)
			}
		}
		at := slices.IndexFunc(out, func(x *known) bool { return x.edges == e })
		switch {
		case at < 0:
			out = append(out, k)
		case k.match == nil || out[at].match == nil:
			out[at].match = nil
		default:
			first, second := out[at].match, k.match
			out[at].match = func(edge int) bool { return first(edge) || second(edge) }
		}
	}
	return out, nil
}

// links calls visit with the source, counted from the first, and the target of each link of the sources [first, first + n). touched receives the bytes that are read.
func (k *known) links(first, n int, touched func(bytes int64) error, visit func(source int, target uint64)) error {
	const together = 1 << 16 // edges between two calls of touched
	seen := 0
	count := func(edges int) error {
		if seen += edges; seen < together {
			return nil
		}
		bytes := int64(seen) * 16 // of the far end, the id and the column
		seen = 0
		return touched(bytes)
	}
	of := func(a *graph.Adjacency, i int) int {
		if a.EdgeID.Len() == 0 {
			return i
		}
		return int(a.EdgeID.At(i))
	}
	if a := k.edges.Adj[graph.Out]; a != nil {
		for v := first; v < first+n; v++ {
			from, to := int(a.Indptr.At(v)), int(a.Indptr.At(v+1))
			for i := from; i < to; i++ {
				if k.match == nil || k.match(of(a, i)) {
					visit(v-first, a.Far.At(i))
				}
			}
			if err := count(to - from + 1); err != nil {
				return err
			}
		}
		return nil
	}
	a := k.edges.Adj[graph.In]
	for v := range a.Indptr.Len() - 1 {
		from, to := int(a.Indptr.At(v)), int(a.Indptr.At(v+1))
		for i := from; i < to; i++ {
			if s := a.Far.At(i); s >= uint64(first) && s < uint64(first+n) && (k.match == nil || k.match(of(a, i))) {
				visit(int(s)-first, uint64(v))
			}
		}
		if err := count(to - from + 1); err != nil {
			return err
		}
	}
	return nil
}

// leftOut are the items that sources do not get: those of source i are items[ptr[i]:ptr[i+1]], ascending.
type leftOut struct {
	ptr   []int
	items []uint64
}

// gather finds the links of the sources [first, first + n), or of as many of them as have most links together, but of at least one, whose number fits.
// same leaves out the node itself, too.
func gather(all []*known, first, n, most int, same bool, touched func(int64) error, fits func(links int) error) (leftOut, error) {
	sizes := make([]int, n+1)
	if same {
		for i := range n {
			sizes[i+1] = 1
		}
	}
	for _, k := range all {
		if err := k.links(first, n, touched, func(source int, _ uint64) { sizes[source+1]++ }); err != nil {
			return leftOut{}, err
		}
	}
	for i := 1; i <= n; i++ {
		if sizes[i] += sizes[i-1]; sizes[i] > most && i > 1 {
			n = i - 1
			break
		}
	}
	if err := fits(sizes[n]); err != nil {
		return leftOut{}, err
	}
	out := leftOut{ptr: sizes[:n+1], items: make([]uint64, sizes[n])}
	free := slices.Clone(out.ptr[:n])
	put := func(source int, target uint64) {
		out.items[free[source]] = target
		free[source]++
	}
	if same {
		for i := range n {
			put(i, uint64(first+i))
		}
	}
	for _, k := range all {
		if err := k.links(first, n, touched, put); err != nil {
			return leftOut{}, err
		}
	}
	for i := range n {
		slices.Sort(out.of(i))
	}
	return out, nil
}

// of are the items of a source.
func (l *leftOut) of(source int) []uint64 { return l.items[l.ptr[source]:l.ptr[source+1]] }

// has says whether a source does not get an item.
func (l *leftOut) has(source int, item uint64) bool {
	_, found := slices.BinarySearchFunc(l.of(source), item, cmp.Compare[uint64])
	return found
}
