package feature

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
)

// TypeName is the node type, or the relation, that a set of a schema becomes: its
// name. '%', ':', control characters and bytes that are not UTF-8 are %XX, byte by
// byte, so that two sets never have one name.
func TypeName(set string) string {
	plain := func(r rune) bool { return r != '%' && r != ':' && r >= ' ' && r != 0x7f && r != utf8.RuneError }
	if !strings.ContainsFunc(set, func(r rune) bool { return !plain(r) }) {
		return set
	}
	var b strings.Builder
	for len(set) > 0 {
		r, n := utf8.DecodeRuneInString(set)
		if plain(r) || r == utf8.RuneError && n > 1 {
			b.WriteString(set[:n])
		} else {
			fmt.Fprintf(&b, "%%%02X", set[0]) // what is not plain has one byte
		}
		set = set[n:]
	}
	return b.String()
}

// EdgeType is the edge type that an edge set becomes: its source, name and target.
func EdgeType(set string, e *tfgnnpb.EdgeSet) graph.EdgeType {
	return graph.EdgeType{Src: TypeName(e.GetSource()), Rel: TypeName(set), Dst: TypeName(e.GetTarget())}
}

// NodeSet is the name that a node type has as a set, where no schema names it: its
// own, or "node" of a homogeneous graph.
func NodeSet(nodeType string) string {
	if nodeType == graph.HomogeneousNode {
		return "node"
	}
	return nodeType
}

// EdgeSets are the names that edge types have as sets: their relations ("edge" of a
// homogeneous graph), or src_rel_dst where several of the types have that relation.
// Two of them can still be the same: the caller refuses that.
func EdgeSets(types []graph.EdgeType) []string {
	names, count := make([]string, len(types)), map[string]int{}
	for i, t := range types {
		if names[i] = t.Rel; t == graph.HomogeneousEdge {
			names[i] = "edge"
		}
		count[names[i]]++
	}
	for i, t := range types {
		if count[names[i]] > 1 {
			names[i] = NodeSet(t.Src) + "_" + t.Rel + "_" + NodeSet(t.Dst)
		}
	}
	return names
}
