package iceberg

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/lake"
)

// tableSchema is the columns of a table at one time.
type tableSchema struct {
	ID     int           `json:"schema-id"`
	Fields []schemaField `json:"fields"`
}

// schemaField is a column, or a field of one.
type schemaField struct {
	ID      int             `json:"id"`
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Initial json.RawMessage `json:"initial-default"`
}

// columns returns the columns of a schema. names are those in files without field ids.
func (s *tableSchema) columns(names map[int][]string) ([]lake.Column, error) {
	var columns []lake.Column
	for i := range s.Fields {
		c, err := s.Fields[i].column()
		if err != nil {
			return nil, err
		}
		if n := names[c.ID]; len(n) > 0 {
			c.Physical, c.Aliases = n[0], n[1:]
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func (f *schemaField) column() (lake.Column, error) {
	c := lake.Column{Name: f.Name, ID: f.ID, ByID: true}
	if f.ID <= 0 {
		return c, lake.Badf("column %q: found the field id %d, expected one from 1 on; the metadata is damaged", f.Name, f.ID)
	}
	if err := setType(&c, f.Type); err != nil {
		return c, lake.Badf("column %q: %w; the metadata is damaged", f.Name, err)
	}
	if c.Reason != "" || len(f.Initial) == 0 || string(f.Initial) == "null" {
		return c, nil
	}
	text, err := defaultText(f)
	if err != nil {
		return c, lake.Badf("column %q: found the default %s, expected %w; the metadata is damaged", f.Name, f.Initial, err)
	}
	c.Default = &text
	return c, nil
}

// setType sets the type of a column: the name of one, or an object for a list, a map or a struct.
func setType(c *lake.Column, raw json.RawMessage) error {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return setPlain(c, name)
	}
	var nested struct {
		Type    string          `json:"type"`
		Element json.RawMessage `json:"element"`
	}
	if err := json.Unmarshal(raw, &nested); err != nil {
		return fmt.Errorf("found the type %s, expected one of Iceberg", raw)
	}
	if nested.Type != "list" {
		c.Reason = "a " + nested.Type
		return nil
	}
	if c.Lists++; c.Lists > maxLists {
		return fmt.Errorf("found lists deeper than %d, expected fewer", maxLists)
	}
	if err := setType(c, nested.Element); err != nil {
		return err
	}
	c.Reason = strings.Replace(c.Reason, "a struct", "a list of structs", 1)
	return nil
}

// maxLists bounds the depth of lists.
const maxLists = 255

var plainTypes = map[string]struct {
	dtype graph.DType
	unit  graph.Unit
}{
	"boolean": {graph.Bool, ""}, "int": {graph.Int32, ""}, "long": {graph.Int64, ""}, "float": {graph.Float32, ""}, "double": {graph.Float64, ""},
	"string": {graph.String, ""}, "binary": {graph.String, ""}, "uuid": {graph.String, ""},
	"date": {graph.Int64, graph.Seconds}, "timestamp": {graph.Int64, graph.Microseconds}, "timestamptz": {graph.Int64, graph.Microseconds},
	"timestamp_ns": {graph.Int64, graph.Nanoseconds}, "timestamptz_ns": {graph.Int64, graph.Nanoseconds},
}

// setPlain sets the type of single values.
func setPlain(c *lake.Column, name string) error {
	if t, ok := plainTypes[name]; ok {
		c.DType, c.Unit, c.Text = t.dtype, t.unit, name == "string" || name == "uuid"
		return nil
	}
	if strings.HasPrefix(name, "fixed[") {
		c.DType = graph.String
		return nil
	}
	if p, s, ok, err := decimalType(name); err != nil {
		return err
	} else if ok {
		c.DType = lake.Decimal(p, s)
		return nil
	}
	kind, _, _ := strings.Cut(name, "(")
	c.Reason = "a column of the type " + kind
	return nil
}

// decimalType reads decimal(9, 2); false: another type.
func decimalType(name string) (precision, scale int, ok bool, err error) {
	inner, is := strings.CutPrefix(name, "decimal(")
	if !is {
		return 0, 0, false, nil
	}
	digits, after, both := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
	p, err1 := strconv.Atoi(strings.TrimSpace(digits))
	s, err2 := strconv.Atoi(strings.TrimSpace(after))
	if !both || err1 != nil || err2 != nil {
		return 0, 0, false, fmt.Errorf("found the type %q, expected decimal(DIGITS, SCALE)", name)
	}
	return p, s, true, nil
}

// typeName is the name of the type of single values; empty: a list, a map or a struct.
func (f *schemaField) typeName() string {
	var name string
	if json.Unmarshal(f.Type, &name) != nil {
		return ""
	}
	return name
}

// defaultText is the text of the value that rows have in files that are older than the column.
func defaultText(f *schemaField) (string, error) {
	name, text := f.typeName(), ""
	switch name {
	case "boolean":
		var v bool
		if json.Unmarshal(f.Initial, &v) != nil {
			return "", fmt.Errorf("true or false")
		}
		return strconv.FormatBool(v), nil
	case "int", "long", "float", "double":
		var v json.Number
		if json.Unmarshal(f.Initial, &v) != nil {
			return "", fmt.Errorf("a number")
		}
		return v.String(), nil
	}
	if json.Unmarshal(f.Initial, &text) != nil {
		return "", fmt.Errorf("a string of JSON")
	}
	if name == "uuid" {
		if text, err := canonicalUUID(text); err == nil {
			return text, nil
		}
		return "", fmt.Errorf("a UUID")
	}
	if name == "binary" || strings.HasPrefix(name, "fixed[") {
		b, err := hex.DecodeString(text)
		if err != nil {
			return "", fmt.Errorf("bytes as hexadecimal digits")
		}
		return string(b), nil
	}
	return text, nil
}

// nameMapping reads the names of columns in files without field ids; nil: the table has none.
func (m *metadata) nameMapping() (map[int][]string, error) {
	text, ok := m.Properties["schema.name-mapping.default"]
	if !ok {
		return nil, nil
	}
	var list []struct {
		ID    *int     `json:"field-id"`
		Names []string `json:"names"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, lake.Badf("found a schema.name-mapping.default that is none, expected JSON with names and field ids; correct the property of the table: %w", err)
	}
	names := map[int][]string{}
	for _, e := range list {
		if e.ID != nil {
			names[*e.ID] = e.Names
		}
	}
	return names, nil
}
