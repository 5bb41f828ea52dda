package textfiles

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Headers of Amazon Neptune's bulk loader for Gremlin name a property and its type: "name:String", "age:Int(single)", "tags:String[]",
// "~id", "~label", "~from", "~to". A property without a type is a string.
// A backslash is before a colon of a name, and before a semicolon of a value in a list.

// The columns of Neptune that are no properties.
const (
	NeptuneID    = "~id"
	NeptuneLabel = "~label"
	NeptuneFrom  = "~from"
	NeptuneTo    = "~to"
)

// neptuneFields are the fields of a header of Neptune, and nil for any other header.
func neptuneFields(header []table.Field) []table.Field {
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(f table.Field) bool { return strings.EqualFold(strings.TrimSpace(f.Name), name) })
	}
	if !has(NeptuneID) && !(has(NeptuneFrom) && has(NeptuneTo)) {
		return nil
	}
	fields := make([]table.Field, len(header))
	for i, f := range header {
		fields[i] = neptuneField(strings.TrimSpace(f.Name))
	}
	return fields
}

func neptuneField(header string) table.Field {
	if strings.HasPrefix(header, "~") {
		return table.Field{Name: strings.ToLower(header)}
	}
	name, kind := header, ""
	if i := strings.LastIndexByte(header, ':'); i >= 0 && !strings.HasSuffix(header[:i], `\`) {
		name, kind = header[:i], header[i+1:]
	}
	colons := strings.NewReplacer(`\:`, ":")
	name = colons.Replace(name)
	kind = strings.ToLower(strings.TrimSpace(kind))
	kind, _, _ = strings.Cut(kind, "(") // the cardinality
	element, list := strings.CutSuffix(kind, "[]")
	f := table.Field{Name: name, DType: graph.String}
	switch element {
	case "bool", "boolean":
		f.DType = graph.Bool
	case "byte", "short", "int", "long":
		f.DType = graph.Int64
	case "float":
		f.DType = graph.Float32
	case "double":
		f.DType = graph.Float64
	case "vector":
		f.DType, list = graph.Float32, true
	case "date", "datetime":
		if !list {
			f.DType = graph.Invalid // a guess of its cells, which are in ISO 8601
		}
	case "string", "":
	default:
		return table.Field{Name: colons.Replace(header), DType: graph.String} // a name with a colon
	}
	if list {
		f.Shape, f.Separator, f.Escapes = []int{-1}, ';', true
	}
	return f
}
