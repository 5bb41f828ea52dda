package tables

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/yamltext"
)

// yamlBytes bounds the texts of categories in graph.yaml, which an import reads up to 128 KiB.
const yamlBytes = 64 << 10

// nodesYAML is a node type in graph.yaml.
func (x *exporter) nodesYAML(n *graph.Nodes, t *Table) string {
	id := "null"
	if n.IDs != nil {
		dtype := "string"
		if n.IDs.DType != graph.String {
			dtype = "integer"
		}
		id = fmt.Sprintf("{column: %s, dtype: %s}", yamltext.Quoted(t.Keys[1]), dtype)
	}
	return fmt.Sprintf("    id: %s\n", id) + x.columnsYAML(t)
}

// edgesYAML is an edge type in graph.yaml. Ends are original ids where there are some.
func (x *exporter) edgesYAML(t *Table, srcIDs, dstIDs bool) string {
	src, dst, k := t.Keys[1], t.Keys[2], 3
	if srcIDs {
		src = t.Keys[k]
		k++
	}
	if dstIDs {
		dst = t.Keys[k]
	}
	return fmt.Sprintf("    src: %s\n    dst: %s\n", yamltext.Quoted(src), yamltext.Quoted(dst)) + x.columnsYAML(t)
}

func (x *exporter) columnsYAML(t *Table) string {
	var b strings.Builder
	for _, c := range t.columns[len(t.Keys):] {
		if c.field.Name == "" {
			continue
		}
		fmt.Fprintf(&b, "      %s: %s\n", yamltext.Quoted(c.field.Name), x.columnYAML(t, &c))
	}
	if b.Len() == 0 {
		return "    columns: {}\n"
	}
	return "    columns:\n" + b.String()
}

// columnYAML is what graph.yaml says about a column.
func (x *exporter) columnYAML(t *Table, c *column) string {
	dtype := c.from.DType.String()
	switch {
	case c.from.Categories != nil:
		dtype = "category"
	case c.from.Unit != "":
		dtype = fmt.Sprintf("datetime[%s]", c.from.Unit)
	}
	if len(c.from.Shape) > 0 {
		dims := make([]string, len(c.from.Shape))
		for i, d := range c.from.Shape {
			if d != -1 {
				dims[i] = fmt.Sprint(d)
			}
		}
		dtype += "[" + strings.Join(dims, ",") + "]"
	}
	parts := []string{"dtype: " + yamltext.Quoted(dtype)}
	if c.from.Categories != nil {
		if list, needed := x.categoriesYAML(t, c); needed {
			parts = append(parts, "categories: "+list)
		}
	}
	switch {
	case c.marks == nil || c.from.DType == graph.String:
	case c.from.DType == graph.Bool:
		parts = append(parts, `missing: "false"`)
	case c.from.DType.IsFloat():
		parts = append(parts, `missing: "nan"`)
	default:
		parts = append(parts, `missing: "0"`)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// categoriesYAML is the list of the texts of a column of categories, and whether an import needs it for equal codes: it numbers the texts that occur in the
// order of their bytes.
func (x *exporter) categoriesYAML(t *Table, c *column) (list string, needed bool) {
	texts := c.from.Categories
	used := make([]bool, texts.Rows)
	left := texts.Rows
	for i, code := range graph.View[int32](c.from.Values) {
		if i%cutEdges == 0 && x.pages.touched(4*cutEdges) != nil {
			break
		}
		if left == 0 {
			break
		}
		if code >= 0 && int(code) < texts.Rows && !used[code] {
			used[code] = true
			left--
		}
	}
	sorted := true
	for i := 1; i < texts.Rows && sorted; i++ {
		sorted = string(texts.Text(i-1)) < string(texts.Text(i))
	}
	if left == 0 && sorted {
		return "", false
	}
	var b strings.Builder
	for i := range texts.Rows {
		if b.Len()+len(texts.Text(i)) > x.yaml || !utf8.Valid(texts.Text(i)) {
			x.note("%s.%s: graph.yaml has no list of the %d categories, which is too long or not in UTF-8; an import numbers those that occur in the order of their bytes", t.Of, c.field.Name, texts.Rows)
			return "", false
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(yamltext.Quoted(string(texts.Text(i))))
	}
	x.yaml -= b.Len()
	return "[" + b.String() + "]", true
}

// graphYAML imports the tables.
func (x *exporter) graphYAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# The tables of a store, written by %s.\n# %s\n", x.shell(exportLine), x.importLine())
	for _, edges := range []bool{false, true} {
		begun := false
		for _, t := range x.r.Tables {
			if t.Edges != edges || t.yaml == "" {
				continue
			}
			if !begun {
				b.WriteString(map[bool]string{false: "nodes:\n", true: "edges:\n"}[edges])
				begun = true
			}
			fmt.Fprintf(&b, "  %s:\n    table: %s\n%s", yamltext.Quoted(t.Of), yamltext.Quoted(t.Name), t.yaml)
		}
		if !begun {
			b.WriteString(map[bool]string{false: "nodes: {}\n", true: "edges: {}\n"}[edges])
		}
	}
	return []byte(b.String())
}

// exportLine is the command that writes the tables, with fields for flags.
const exportLine = "graphmill export `To` parquet"

// shell is a command as files show it.
func (x *exporter) shell(line string) string {
	if x.o.Shell == nil {
		return line
	}
	return x.o.Shell(line)
}

// importLine is the command that makes an equal store.
func (x *exporter) importLine() string {
	line := "graphmill import FOLDER `Out` STORE"
	var out, both, none bool
	for _, e := range x.s.Graph.Edges {
		out = out || e.Primary == graph.Out
		both = both || e.Adj[1-e.Primary] != nil
		none = none || e.NoPositions
	}
	for _, f := range []struct {
		is   bool
		flag string
	}{{out, " `Primary` out"}, {both, " `Both`"}, {none, " `NoPositions`"}} {
		if f.is {
			line += f.flag
		}
	}
	return x.shell(line)
}

// readme describes the tables for people.
func (x *exporter) readme() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Tables of %s\n\n", x.o.Name)
	b.WriteString("Parquet tables of a graph, written by `" + x.shell(exportLine) + "`. `node` numbers the nodes of a type from 0, and `source` and `target` are\n" +
		"such numbers. `id`, `source_id` and `target_id` are original ids, where there are any. `edge` is the id of the edge in the store. Rows of edges are in the\n" +
		"order of their input. A key has `_` at its end where a column has the same name.\n\n")
	b.WriteString("| table | type | rows | keys |\n|---|---|--:|---|\n")
	for _, t := range x.r.Tables {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", t.Name, cell(t.Of), t.Rows, strings.Join(t.Keys, ", "))
	}
	fmt.Fprintf(&b, "\nDuckDB joins them:\n\n```sql\n%s\n```\n\nA store again: `%s`.\n", Query(x.s.Graph, x.r, ""), x.importLine())
	if len(x.r.Notes) > 0 {
		b.WriteString("\nWhat is different here:\n\n")
		for _, n := range x.r.Notes {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(cell(n)), " "))
		}
	}
	return []byte(b.String())
}

// cell is a text in a table of Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "&#96;", "\n", " ").Replace(s)
}

// Query is a query of DuckDB that joins the largest edge type with its sources. dir is the folder of the tables; empty if it is the current one.
func Query(g *graph.Graph, r *Result, dir string) string {
	var edges, nodes *Table
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Edges && (edges == nil || t.Rows > edges.Rows) {
			edges = t
		}
	}
	file := func(t *Table) string {
		if dir != "" {
			return "'" + strings.ReplaceAll(dir+"/"+t.Name, "'", "''") + "'"
		}
		return "'" + t.Name + "'"
	}
	if edges == nil {
		if len(r.Tables) == 0 {
			return ""
		}
		return "SELECT count(*) FROM " + file(&r.Tables[0])
	}
	i, err := g.EdgeType(edges.Of)
	if err != nil {
		return ""
	}
	for k := range r.Tables {
		if t := &r.Tables[k]; !t.Edges && t.Of == g.Edges[i].Type.Src {
			nodes = t
		}
	}
	return fmt.Sprintf("SELECT n.*, e.* FROM %s e JOIN %s n ON n.%s = e.%s LIMIT 10", file(edges), file(nodes), nodes.Keys[0], edges.Keys[1])
}
