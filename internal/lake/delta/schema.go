package delta

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/lake"
)

// field is a field of the schema of a table.
type field struct {
	Name     string          `json:"name"`
	Type     json.RawMessage `json:"type"`
	Metadata struct {
		ID       int    `json:"delta.columnMapping.id"`
		Physical string `json:"delta.columnMapping.physicalName"`
	} `json:"metadata"`
}

// columns returns the columns of a table. The columns of partitions are marked by their physical name.
func (m *metadataAction) columns(place string) ([]lake.Column, error) {
	var schema struct {
		Fields []field `json:"fields"`
	}
	if err := json.Unmarshal([]byte(m.SchemaString), &schema); err != nil {
		return nil, lake.Badf("%s: found a schema that is no JSON of Delta Lake, expected one; the log is damaged: %w", place, err)
	}
	mode := m.Configuration["delta.columnMapping.mode"]
	if !slices.Contains([]string{"", "none", "name", "id"}, mode) {
		return nil, lake.Badf("%s: found the mode %q of the mapping of columns, expected none, name or id; update Graphmill", place, mode)
	}
	mapped := mode == "name" || mode == "id"
	var columns []lake.Column
	for _, f := range schema.Fields {
		c := lake.Column{Name: f.Name, Physical: f.Name}
		if mapped {
			if f.Metadata.Physical == "" {
				return nil, lake.Badf("%s: column %q: found no physical name, expected one, as the mapping of columns is %s; the log is damaged", place, f.Name, mode)
			}
			c.Physical, c.ID, c.ByID = f.Metadata.Physical, f.Metadata.ID, mode == "id"
		}
		if err := setType(&c, f.Type); err != nil {
			return nil, lake.Badf("%s: column %q: %w; the log is damaged", place, f.Name, err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// setType sets the type of a column: the name of one, or an object for an array, a map or a struct.
func setType(c *lake.Column, raw json.RawMessage) error {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return setPlain(c, name)
	}
	var nested struct {
		Type    string          `json:"type"`
		Element json.RawMessage `json:"elementType"`
	}
	if err := json.Unmarshal(raw, &nested); err != nil {
		return fmt.Errorf("found the type %s, expected one of Delta Lake", raw)
	}
	if nested.Type != "array" {
		c.Reason = "a " + nested.Type
		return nil
	}
	if c.Lists++; c.Lists > 255 {
		return fmt.Errorf("found arrays deeper than %d, expected fewer", 255)
	}
	if err := setType(c, nested.Element); err != nil {
		return err
	}
	c.Reason = strings.Replace(c.Reason, "a struct", "a list of structs", 1)
	return nil
}

// setPlain sets the type of single values.
func setPlain(c *lake.Column, name string) error {
	types := map[string]graph.DType{
		"string": graph.String, "binary": graph.String, "boolean": graph.Bool,
		"byte": graph.Int8, "short": graph.Int16, "integer": graph.Int32, "long": graph.Int64,
		"float": graph.Float32, "double": graph.Float64, "date": graph.Int64, "timestamp": graph.Int64, "timestamp_ntz": graph.Int64,
	}
	c.DType, c.Text = types[name], name == "string"
	switch name {
	case "date":
		c.Unit = graph.Seconds
	case "timestamp", "timestamp_ntz":
		c.Unit = graph.Microseconds
	}
	if c.DType != graph.Invalid {
		return nil
	}
	if inner, ok := strings.CutPrefix(name, "decimal("); ok {
		digits, scale, both := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
		p, err1 := strconv.Atoi(digits)
		s, err2 := strconv.Atoi(scale)
		if !both || err1 != nil || err2 != nil {
			return fmt.Errorf("found the type %q, expected decimal(DIGITS,SCALE)", name)
		}
		c.DType = lake.Decimal(p, s)
		return nil
	}
	c.Reason = "a column of the type " + name
	return nil
}
