package ingest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// otherReading returns the part of an error that says how else to read a file without columns of ends; empty where it knows no other way.
func otherReading(file string, fields []looks) string {
	all := func(is func(f *looks) bool) bool {
		for i := range fields {
			if !is(&fields[i]) {
				return false
			}
		}
		return true
	}
	named := func(chars string) string {
		for _, f := range fields {
			if i := strings.IndexAny(f.Name, chars); i >= 0 {
				return f.Name[i : i+1]
			}
		}
		return ""
	}
	switch isJSON := strings.EqualFold(filepath.Ext(file), ".json"); {
	case isJSON:
		return "; write a data frame with pandas.DataFrame.to_json(orient=\"records\")"
	case len(fields) >= 3 && all(func(f *looks) bool { return f.guess != nil && f.guess.Number }):
		return ", or give `Format` dense-matrix if the file is a matrix"
	case len(fields) < 4 && named(";\t|") != "":
		return fmt.Sprintf(", or give `Delimiter` if it is %q", named(";\t|"))
	case len(fields) == 3 && all(func(f *looks) bool { return f.guess != nil && f.text }):
		return ", or give `Format` triples for lines of head, relation and tail"
	}
	return ""
}

// notEdgeList is the error for a file whose columns say that it is a graph of another format under the name of a table, or that it
// has nothing; nil: it may be a table.
func notEdgeList(file string, fields []looks) error {
	if len(fields) == 0 {
		return sourcef("%s: found a table without columns, expected the ends of edges; write the file again%s", file, otherReading(file, fields))
	}
	switch first := fields[0].Name; {
	case strings.HasPrefix(first, "<?xml") || strings.HasPrefix(first, "<graphml"):
		return sourcef("%s: found XML, expected a table; give `Format` graphml, or read another graph in Python: python -m graphmill import FILE --kind gexf --out STORE", file)
	case first == "graph" && len(fields) > 1 && fields[1].Name == "[" || first == "graph [":
		return sourcef("%s: found a GML file, expected a table; read it in Python: python -m graphmill import FILE --kind gml --out STORE", file)
	}
	return nil
}

// matrixReading returns the part of an error that says how else to read a file without a header, given the cells of its first line; empty where it knows no other way.
func matrixReading(cells []string) string {
	if len(cells) < 4 || slices.ContainsFunc(cells, func(cell string) bool {
		_, err := strconv.ParseFloat(cell, 64)
		return err != nil
	}) {
		return ""
	}
	return ", or `Format` dense-matrix if the file is a matrix"
}

// kindsNote is a warning of ids of one node type that are numbers at one end and texts at the other, as in a table of nodes, or that are fractions; empty: they are neither.
func kindsNote(file string, src, dst *looks) string {
	if src.guess == nil || dst.guess == nil {
		return ""
	}
	for _, f := range []*looks{src, dst} {
		if g := f.guess; g.Seen && g.Number && !g.Integer && !g.Whole {
			return fmt.Sprintf("%s: found numbers with a fraction or an exponent as ids in the column %q, and reads their texts; write whole numbers, such as with numpy.savetxt(FILE, a, fmt=\"%%d\")", file, f.Name)
		}
	}
	if src.guess.Seen && dst.guess.Seen && (src.integers && dst.text || src.text && dst.integers) {
		return fmt.Sprintf("%s: found texts in one of the columns %q and %q and whole numbers in the other, which are read as ids of one node type; name two types with `SrcType` and `DstType`, and a table of nodes in a graph.yaml", file, src.Name, dst.Name)
	}
	return ""
}
