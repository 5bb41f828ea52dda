package examplecolumns

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
)

// TypeName returns the node type, or the relation, that a set of a schema becomes: its name. '%', ':', control
// characters and bytes that are not UTF-8 are written as %XX, byte by byte, so that different sets get different
// names.
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
			fmt.Fprintf(&b, "%%%02X", set[0]) // one byte that cannot stay as it is
		}
		set = set[n:]
	}
	return b.String()
}

// EdgeType returns the edge type that an edge set becomes: its source, name and target.
func EdgeType(set string, e *tfgnnpb.EdgeSet) graph.EdgeType {
	return graph.EdgeType{Src: TypeName(e.GetSource()), Rel: TypeName(set), Dst: TypeName(e.GetTarget())}
}

// NodeSet returns the name of the node set of a node type that no schema names: the type's name, or "node" in a
// homogeneous graph.
func NodeSet(nodeType string) string {
	if nodeType == graph.HomogeneousNode {
		return "node"
	}
	return nodeType
}

// EdgeSet is the name of the edge set of a type whose relation no other type has.
func EdgeSet(t graph.EdgeType) string {
	if t == graph.HomogeneousEdge {
		return "edge"
	}
	return t.Rel
}

// EdgeSets returns the names of the edge sets of edge types: their relations ("edge" in a homogeneous graph), or
// src_rel_dst where several types have the same relation. Two names can still be equal, which the caller must refuse.
func EdgeSets(types []graph.EdgeType) []string {
	names, count := make([]string, len(types)), map[string]int{}
	for i, t := range types {
		names[i] = EdgeSet(t)
		count[names[i]]++
	}
	for i, t := range types {
		if count[names[i]] > 1 {
			names[i] = NodeSet(t.Src) + "_" + t.Rel + "_" + NodeSet(t.Dst)
		}
	}
	return names
}
