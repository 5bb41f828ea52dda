package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// The usual names of the columns that contain ids. Those of the two ends that belong together have the same places.
var (
	idNames  = []string{"#id", "id", "node_id", "nodeId", ":ID"}
	srcNames = []string{"#source", "src", "source", "from", "from_id", "src_id", "source_id", "FromNodeId", ":START_ID", "head", "u", "source", "src"}
	dstNames = []string{"#target", "dst", "target", "to", "to_id", "dst_id", "target_id", "ToNodeId", ":END_ID", "tail", "v", "destination", "destination"}
)

// means says whether a header is a usual name: exactly, or else in other cases of its letters. Neo4j's headers have an id
// space in parentheses, and may have a name before the kind: "personId:ID(Person)", ":START_ID(Person)".
func means(header, usual string, exact bool) bool {
	if header == usual || exact {
		return header == usual
	}
	if strings.HasPrefix(usual, ":") {
		if name, kind, ok := strings.Cut(header, ":"); ok {
			if i := strings.IndexAny(kind, "({"); i >= 0 { // an id space, and options
				kind = kind[:i]
			}
			return strings.EqualFold(kind, usual[1:]) && (name == "" || usual == ":ID")
		}
	}
	return strings.EqualFold(header, usual)
}

// isHeader says whether the cells of a first line are names: usual ones of a source and of a target, or the given ones in any
// case of their letters. Names of one letter do not count, as they are usual ids, too.
func isHeader(cells, given []string) bool {
	if slices.EqualFunc(cells, given, strings.EqualFold) {
		return true
	}
	usual := func(names []string) bool {
		return slices.ContainsFunc(cells, func(cell string) bool {
			return len(cell) > 1 && slices.ContainsFunc(names, func(n string) bool { return means(cell, n, false) })
		})
	}
	return usual(srcNames) && usual(dstNames)
}

// edgeTypeOf returns the edge type of a table whose ends have these headers. Neo4j's id spaces are node types if they differ,
// as the same id is another node in another space. An end without a space has ids of its own, too.
func edgeTypeOf(src, dst string) graph.EdgeType {
	typ := graph.HomogeneousEdge
	if from, to := space(src, ":START_ID"), space(dst, ":END_ID"); from != to {
		typ.Src, typ.Dst = cmp.Or(from, typ.Src), cmp.Or(to, typ.Dst)
	}
	return typ
}

// space returns the id space in Neo4j's header of an end, or "".
func space(header, usual string) string {
	if !means(header, usual, false) {
		return ""
	}
	header, _, _ = strings.Cut(header, "{") // options
	_, in, _ := strings.Cut(header, "(")
	name, _ := strings.CutSuffix(strings.TrimSpace(in), ")")
	return strings.TrimSpace(name)
}

// candidates returns the fields that a usual name means.
func candidates(fields []looks, usual string, exact bool) (found []*looks) {
	for i := range fields {
		if means(fields[i].Name, usual, exact) {
			found = append(found, &fields[i])
		}
	}
	return found
}

// pick returns the given field or, if none is given, the one with a usual name. Names that begin with # belong to a
// format and go before all others, and "id" before other names of ids; then names as they are written, and then names in
// other cases of their letters. Two candidates are an error.
func pick(t table.Table, fields []looks, given string, usual []string) (*looks, error) {
	if given != "" {
		usual = []string{given}
	}
	for _, exact := range []bool{true, false} {
		var found []*looks
		for _, n := range usual {
			for _, f := range candidates(fields, n, exact) {
				if !slices.Contains(found, f) {
					found = append(found, f)
				}
			}
			if len(found) == 1 && (strings.HasPrefix(n, "#") || n == "id") {
				return found[0], nil
			}
		}
		if len(found) > 1 {
			return nil, twice(t, found[0], found[1])
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	expected := fmt.Sprintf("%q among them", usual[0])
	if len(usual) > 1 {
		names := slices.Clone(usual)
		slices.Sort(names)
		names = slices.Compact(names)
		expected = "one of " + strings.Join(names, ", ") + " among them"
	}
	return nil, sourcef("%s: found the columns %s, expected %s", t.Files()[0], table.List(some(fieldNames(fields))), expected)
}

func twice(t table.Table, a, b *looks) error {
	return sourcef("%s: found the columns %q and %q, which can both be that one, expected one of them", t.Files()[0], a.Name, b.Name)
}

// isPair says whether two columns have the names of a pair of ends that belong together.
func isPair(src, dst string) bool {
	for i := range srcNames {
		if means(src, srcNames[i], false) && means(dst, dstNames[i], false) {
			return true
		}
	}
	return false
}

// pickEnds returns the fields of the two ends. Without given names, a pair of usual names that belong together goes
// before names that do not: from, to in a table that has a column source, too. Then follow the two keys, which are the fields with the
// names of the ids of the ends' node types, or nil, and then a usual name or a key for each end.
func pickEnds(t table.Table, fields []looks, src, dst string, keys [2]*looks) (s, d *looks, err error) {
	if src == "" && dst == "" {
		for _, exact := range []bool{true, false} {
			for i := range srcNames {
				x, y := candidates(fields, srcNames[i], exact), candidates(fields, dstNames[i], exact)
				if len(x) != 1 || len(y) != 1 || s == x[0] && d == y[0] {
					continue
				}
				switch {
				case s == nil:
					s, d = x[0], y[0]
				case s != x[0]:
					return nil, nil, fmt.Errorf("%w; name the column of the source", twice(t, s, x[0]))
				default:
					return nil, nil, fmt.Errorf("%w; name the column of the destination", twice(t, d, y[0]))
				}
				if i == 0 {
					return s, d, nil
				}
			}
			if s != nil {
				return s, d, nil
			}
		}
		if keys[0] != nil && keys[1] != nil {
			return keys[0], keys[1], nil
		}
	}
	if s, err = pickEnd(t, fields, src, srcNames, keys[0]); err != nil {
		return nil, nil, fmt.Errorf("%w; name the column of the source", err)
	}
	if d, err = pickEnd(t, fields, dst, dstNames, keys[1]); err != nil {
		return nil, nil, fmt.Errorf("%w; name the column of the destination", err)
	}
	return s, d, nil
}

// pickEnd is pick for one end, whose key counts where there is no usual name.
func pickEnd(t table.Table, fields []looks, given string, usual []string, key *looks) (*looks, error) {
	if given == "" && key != nil && !slices.ContainsFunc(usual, func(n string) bool { return candidates(fields, n, false) != nil }) {
		return key, nil
	}
	return pick(t, fields, given, usual)
}
