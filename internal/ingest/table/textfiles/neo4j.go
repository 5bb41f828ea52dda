package textfiles

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/isotime"
)

// Headers of Neo4j's importer (neo4j-admin database import) name a field and its type: "age:int", "tags:string[]",
// "personId:ID(Person)", ":START_ID(Person)", ":LABEL", "x:IGNORE", "at:datetime{timezone:Europe/Berlin}". A field without a type
// is one of any text table.

// neo4jEnds are the kinds of fields that make a header one of Neo4j.
var neo4jEnds = []string{"ID", "START_ID", "END_ID"}

// neo4jFields are the fields of a header of Neo4j, and nil for any other header. Fields of ids and ends keep their names, or get others by o.RepeatedIDs. Those of
// other kinds have the name before the kind, and labels and types the name of the kind.
func neo4jFields(header []table.Field, o *CSVOptions) []table.Field {
	if !slices.ContainsFunc(header, func(f table.Field) bool { return isNeo4jEnd(f.Name) }) {
		return nil
	}
	fields := make([]table.Field, len(header))
	for i, f := range header {
		fields[i] = neo4jField(f.Name)
		if fields[i].Separator != 0 {
			fields[i].Separator = cmp.Or(o.ListDelimiter, fields[i].Separator)
		}
		if o.RepeatedIDs && isNeo4jEnd(f.Name) && slices.ContainsFunc(fields[:i], func(g table.Field) bool { return g.Name == f.Name }) {
			fields[i].Name += fmt.Sprintf("{column %d}", i+1)
		}
	}
	return fields
}

// isNeo4jEnd says whether a header is one of ids or of ends.
func isNeo4jEnd(header string) bool {
	_, kind, ok := neo4jKind(header)
	return ok && slices.Contains(neo4jEnds, strings.ToUpper(kind))
}

// neo4jKind cuts a header at its last ':', and an id space or options off the kind.
func neo4jKind(header string) (name, kind string, ok bool) {
	text := header
	if i := strings.IndexAny(text, "({"); i >= 0 {
		text = text[:i]
	}
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return header, "", false
	}
	return text[:i], text[i+1:], true
}

// databaseFields are the fields of a header of Neo4j or of Neptune, and nil for any other header.
func databaseFields(place string, header []table.Field, o *CSVOptions) ([]table.Field, error) {
	if fields := neptuneFields(header); fields != nil {
		return fields, nil
	}
	fields := neo4jFields(header, o)
	for i := range fields {
		m := neo4jZone.FindStringSubmatch(header[i].Name)
		if _, kind, _ := neo4jKind(header[i].Name); m == nil || !strings.EqualFold(kind, "datetime") {
			continue
		}
		zone, ok := zoneOf(strings.Trim(m[1], ` '"`))
		if !ok {
			return nil, badf("%s: found the time zone %q in the header of column %q, expected an offset such as +02:00 or a name such as Europe/Berlin; correct the zone", place, m[1], fields[i].Name)
		}
		fields[i].Zone = zone
	}
	return fields, nil
}

// neo4jZone finds the zone in "at:datetime{timezone:+02:00}".
var neo4jZone = regexp.MustCompile(`(?i)[{,]\s*timezone\s*:\s*([^,}]*)`)

// zoneOf is the zone of a text: an offset, Z, or a name of the IANA database.
func zoneOf(text string) (*time.Location, bool) {
	if text == "" || text == "Local" { // which are names to package time
		return nil, false
	}
	if t, ok := isotime.Parse([]byte("1970-01-01T00:00" + text)); ok && !strings.HasPrefix(text, ":") {
		return time.FixedZone(text, -int(t.Seconds)), true
	}
	zone, err := time.LoadLocation(text)
	return zone, err == nil
}

// checkTyped is checkNames for the fields that are not left out.
func checkTyped(place string, fields []table.Field) error {
	var names []string
	for _, f := range namedFields(fields) {
		if !f.Ignored {
			names = append(names, f.Name)
		}
	}
	return table.CheckNames(place, names)
}

func neo4jField(header string) table.Field {
	name, kind, ok := neo4jKind(header)
	f := table.Field{Name: header}
	if !ok || isNeo4jEnd(header) {
		return f
	}
	element, list := strings.CutSuffix(strings.ToLower(kind), "[]")
	typed := table.Field{Name: name}
	switch element {
	case "ignore":
		typed.Ignored = true
	case "label":
		if strings.HasPrefix(name, "_") { // _labels and _type of APOC
			return f
		}
		typed.Name, typed.DType, list = "LABEL", graph.String, true
	case "type":
		typed.Name, typed.DType = "TYPE", graph.String
	case "int", "long", "short", "byte":
		typed.DType = graph.Int64
	case "float":
		typed.DType = graph.Float32
	case "double":
		typed.DType = graph.Float64
	case "boolean", "bool":
		typed.DType = graph.Bool
	case "string", "char", "point", "duration", "time", "localtime":
		typed.DType = graph.String
	case "date", "datetime", "localdatetime":
		if list {
			typed.DType = graph.String
		} // else a guess of their cells, which are in ISO 8601
	default:
		return f
	}
	if list && typed.DType != graph.Invalid {
		typed.Shape, typed.Separator = []int{-1}, ';'
	}
	if typed.Name == "" {
		f.Ignored = typed.Ignored
		return f
	}
	return typed
}
