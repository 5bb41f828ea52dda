package chains

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// typeNames and columnNames have what file systems, YAML, CSV, schemas and sort orders could take for something else.
var (
	typeNames = []string{"a", "B", "b", "_N", "paper", "ü", "日本", "🦊", "e\u0301", "a b", "a.b", "..", "a/b", "%41", "a+b", "-", "NUL", "\u202eltr", "ﬀ", "'q'", `"`, "#", "node", "context", `\`, "a,b", "rev_a", "\U0010ffff", "{}", "null", "1"}
	relations = []string{"r", "R", "_E", "cites", "rev_r", "ß", "→", "r s", "r.s", "/", "%", "+", "..", "関", "👩\u200d🔬", "edge", "r_s", "~", "0"}
	colNames  = []string{"x", "X", "w", "weight", "feat", "ids", "src", "far", "indptr", "graph_ptr", "ü", "列", "🧪", "a b", "a/b", "..", "%2F", "a+b", "x.string_offsets", "y,z", "q\"q", "-", "columns", "\u200bz", "NaN", "1"}
)

// fileColumn is a column in a .npy file, or several for strings and lists.
type fileColumn struct {
	name string
	col  *column
}

// textColumn is a column of a table of text: a cell per row.
type textColumn struct {
	name, dtype string // dtype as graph.yaml takes it
	kind        byte   // 'n' number or bool, 's' text
	cells       []string
}

type nodesSource struct {
	name  string
	count int
	ids   []string // nil: the ids are the rows
	text  []textColumn
	files []fileColumn
}

type edgesSource struct {
	src, dst int // src and dst are numbers of node types
	name     string
	ends     [][2]int
	text     []textColumn
	files    []fileColumn
}

// source is a random graph, as tables and arrays.
type source struct {
	nodes []nodesSource
	edges []edgesSource
}

// sometimes is true once in n draws; it shrinks to false.
func sometimes(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n-1 && n > 1
}

// distinct draws up to n different names.
func distinct(t *rapid.T, from []string, n int, label string) (names []string) {
	for range n {
		name := rapid.SampledFrom(from).Draw(t, label)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// drawColumn draws a column of any dtype, with random bits as its values: NaNs of all kinds, and both zeros.
func drawColumn(t *rapid.T, rows int) *column {
	r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<32).Draw(t, "values"), 7))
	c := &column{rows: rows, dtype: graph.DType(rapid.IntRange(int(graph.Bool), int(graph.String)).Draw(t, "dtype"))}
	c.shape = rapid.SampledFrom([][]int{nil, nil, {3}, {1}, {2, 2}, {-1}, {-1, 2}, {2, -1}, {-1, -1}}).Draw(t, "shape")
	n := rows
	for _, d := range c.shape {
		if d >= 0 {
			n *= d
			continue
		}
		offsets := []uint64{0}
		for i := range n {
			offsets = append(offsets, offsets[i]+uint64(r.IntN(3)))
		}
		c.lengths, n = append(c.lengths, offsets), int(offsets[len(offsets)-1])
	}
	tame := rapid.Bool().Draw(t, "tame") // values that all formats hold
	for range n {
		bits := r.Uint64()
		if r.IntN(6) == 0 {
			bits = []uint64{0, math.MaxUint64, 1 << 63, 0x7ff0000000000000, 0xfff0000000000000, 0x7f800000, 0x80000000, 0x8000, 0x7fc00000, 0x7fc00123, 0x7ff8000000000123}[r.IntN(11)]
		}
		if tame {
			bits = uint64(r.IntN(100))
			switch c.dtype {
			case graph.Float16:
				bits = uint64(r.IntN(64)) << 6
			case graph.BFloat16:
				bits = 0x3f80 + uint64(r.IntN(64))
			case graph.Float32:
				bits = uint64(math.Float32bits(float32(bits) / 4))
			case graph.Float64:
				bits = math.Float64bits(float64(bits) / 4)
			}
		}
		if c.dtype == graph.Bool {
			bits &= 1
		}
		if c.dtype == graph.String {
			c.texts = append(c.texts, drawText(r, tame))
			continue
		}
		for b := range c.dtype.Size() {
			c.values = append(c.values, byte(bits>>(8*b)))
		}
	}
	return c
}

var texts = []string{"", "a", "é", "e\u0301", "日本語", "🦊", "a,b", "a\tb", `say "x"`, "it's", "line\nbreak", "\r\n", " ", "NULL", "nan", "0", "[1 2]", ";", "|", "\u0000", "\ufeff"}

func drawText(r *rand.Rand, tame bool) string {
	switch {
	case tame:
		return string(rune('a' + r.IntN(26)))
	case r.IntN(8) == 0:
		return string([]byte{byte(r.IntN(256)), byte(r.IntN(256))}) // mostly not UTF-8
	case r.IntN(4) == 0:
		return `'"`[:1+r.IntN(2)]
	}
	return texts[r.IntN(len(texts))]
}

// drawCells draws a column of a table of text.
func drawCells(t *rapid.T, name string, rows int) textColumn {
	r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<32).Draw(t, "cells"), 8))
	c := textColumn{name: name, kind: 'n'}
	kind := rapid.SampledFrom([]string{"int64", "float32", "float64", "bool", "string", "datetime[ms]", "category", "int16"}).Draw(t, "kind")
	c.dtype = kind
	for range rows {
		cell := ""
		switch kind {
		case "int64":
			cell = strconv.FormatInt(int64(r.Uint64()), 10)
		case "int16":
			cell = strconv.Itoa(r.IntN(1<<16) - 1<<15)
		case "float32":
			cell = strconv.FormatFloat(float64(math.Float32frombits(r.Uint32()&0x7f7fffff)), 'g', -1, 32)
		case "float64":
			cell = strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64)
		case "bool":
			cell = strconv.FormatBool(r.IntN(2) == 1)
		case "string":
			c.kind, cell = 's', texts[r.IntN(len(texts)-2)]
		case "category":
			c.kind, cell = 's', []string{"low", "mid", "höch", "🦊", ""}[r.IntN(5)]
		case "datetime[ms]":
			c.kind, cell = 's', fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02d.%03d", r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000))
			if r.IntN(5) == 0 {
				cell = ""
			}
		}
		c.cells = append(c.cells, cell)
	}
	return c
}

// drawSource draws a graph of up to three node types and four edge types.
func drawSource(t *rapid.T) *source {
	s := &source{}
	columns := func(rows int) (text []textColumn, files []fileColumn) {
		for _, name := range distinct(t, colNames, rapid.IntRange(0, 3).Draw(t, "columns"), "column") {
			if rapid.Bool().Draw(t, "as text") {
				text = append(text, drawCells(t, name, rows))
			} else {
				files = append(files, fileColumn{name, drawColumn(t, rows)})
			}
		}
		return text, files
	}
	for _, name := range distinct(t, typeNames, rapid.IntRange(1, 3).Draw(t, "node types"), "node type") {
		n := nodesSource{name: name, count: rapid.IntRange(0, 12).Draw(t, "nodes")}
		n.text, n.files = columns(n.count)
		if rapid.Bool().Draw(t, "ids") {
			for i := range n.count {
				n.ids = append(n.ids, []string{"x", "é", "日", "a b", "🦊", "0"}[i%6]+strconv.Itoa(i*7919%1000))
			}
		}
		s.nodes = append(s.nodes, n)
	}
	for _, rel := range distinct(t, relations, rapid.IntRange(1, 4).Draw(t, "edge types"), "relation") {
		e := edgesSource{name: rel, src: rapid.IntRange(0, len(s.nodes)-1).Draw(t, "source"), dst: rapid.IntRange(0, len(s.nodes)-1).Draw(t, "target")}
		a, b := s.nodes[e.src].count, s.nodes[e.dst].count
		r := rand.New(rand.NewPCG(rapid.Uint64Range(0, 1<<32).Draw(t, "ends"), 9))
		if a > 0 && b > 0 {
			for range rapid.IntRange(0, 40).Draw(t, "edges") {
				e.ends = append(e.ends, [2]int{r.IntN(a), r.IntN(b)}) // parallel edges and self-loops among them
			}
		}
		e.text, e.files = columns(len(e.ends))
		s.edges = append(s.edges, e)
		if sometimes(t, 4, "same relation") && len(s.nodes) > 1 { // between other types
			f := edgesSource{name: rel, src: (e.src + 1) % len(s.nodes), dst: e.dst}
			if s.nodes[f.src].count > 0 && b > 0 {
				f.ends = [][2]int{{0, 0}}
			}
			s.edges = append(s.edges, f)
		}
	}
	return s
}

// tableKinds are the formats of tables of a source, by extension.
var tableKinds = []string{"csv", "tsv", "jsonl"}

// write writes graph.yaml, with the tables of the nodes and edges in the format kind.
func (s *source) write(dir, kind string) error {
	w := &sourceWriter{dir: dir, kind: kind}
	doc := map[string]any{}
	nodes, edges := map[string]any{}, map[string]any{}
	for i, n := range s.nodes {
		entry := map[string]any{}
		text := n.text
		if n.ids != nil {
			text = append([]textColumn{{name: "the id", dtype: "string", kind: 's', cells: n.ids}}, text...)
			entry["id"] = map[string]any{"column": "the id", "dtype": "string"}
		}
		if len(text) > 0 {
			w.describe(entry, fmt.Sprint("nodes", i), text)
		} else if len(n.files) == 0 && n.count > 0 {
			entry["count"] = n.count
		}
		entry["columns"] = w.columns(fmt.Sprint("nodes", i), n.text, n.files)
		nodes[n.name] = entry
	}
	for i, e := range s.edges {
		a, b := s.nodes[e.src], s.nodes[e.dst]
		ends := []textColumn{{name: "the source", kind: 'n'}, {name: "the target", kind: 'n'}}
		for k, n := range []nodesSource{a, b} {
			if n.ids != nil {
				ends[k].kind = 's'
			}
			for _, pair := range e.ends {
				cell := strconv.Itoa(pair[k])
				if n.ids != nil {
					cell = n.ids[pair[k]]
				}
				ends[k].cells = append(ends[k].cells, cell)
			}
		}
		entry := map[string]any{"src": "the source", "dst": "the target", "columns": w.columns(fmt.Sprint("edges", i), e.text, e.files)}
		w.describe(entry, fmt.Sprint("edges", i), append(ends, e.text...))
		edges[a.name+":"+e.name+":"+b.name] = entry
	}
	doc["nodes"], doc["edges"] = nodes, edges
	text, err := json.Marshal(doc) // JSON is YAML
	if err != nil {
		return err
	}
	w.file("graph.yaml", text)
	return w.err
}

// sourceWriter writes the files of a source.
type sourceWriter struct {
	dir, kind string
	err       error
}

func (w *sourceWriter) file(name string, b []byte) {
	if w.err == nil {
		w.err = os.MkdirAll(w.dir, 0o755)
	}
	if w.err == nil {
		w.err = os.WriteFile(filepath.Join(w.dir, name), b, 0o644)
	}
}

// describe adds a table to an entry of graph.yaml.
func (w *sourceWriter) describe(entry map[string]any, stem string, columns []textColumn) {
	entry["table"] = w.table(stem, columns)
	if w.kind != "jsonl" {
		entry["header"] = true // names of columns may look like numbers
		return
	}
	names := make([]string, len(columns)) // a file without rows names no columns
	for i, c := range columns {
		names[i] = c.name
	}
	entry["names"] = names
}

// table writes columns of text as a table, and returns its name.
func (w *sourceWriter) table(stem string, columns []textColumn) string {
	var b strings.Builder
	comma := ","
	if w.kind == "tsv" {
		comma = "\t"
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	if w.kind != "jsonl" {
		b.WriteString(line(names, comma))
	}
	for r := range len(columns[0].cells) {
		cells := make([]string, len(columns))
		for i, c := range columns {
			if w.kind != "jsonl" {
				cells[i] = c.cells[r]
				continue
			}
			value := c.cells[r]
			if c.kind == 's' {
				quoted, _ := json.Marshal(value)
				value = string(quoted)
			}
			key, _ := json.Marshal(c.name)
			cells[i] = string(key) + ":" + value
		}
		if w.kind == "jsonl" {
			b.WriteString("{" + strings.Join(cells, ",") + "}\n")
		} else {
			b.WriteString(line(cells, comma))
		}
	}
	name := stem + "." + w.kind
	w.file(name, []byte(b.String()))
	return name
}

// line is a line of a CSV file, with each cell in quotes that could need them.
func line(cells []string, comma string) string {
	for i, c := range cells {
		if c == "" || strings.ContainsAny(c, "\",;|\t\r\n ' ") {
			cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
	}
	return strings.Join(cells, comma) + "\n"
}

// columns writes the arrays of columns, and returns the columns as graph.yaml lists them.
func (w *sourceWriter) columns(stem string, text []textColumn, files []fileColumn) map[string]any {
	out := map[string]any{}
	for _, c := range text {
		out[c.name] = map[string]any{"dtype": c.dtype}
	}
	for i, f := range files {
		name, c := fmt.Sprintf("%s-%d", stem, i), f.col
		entry := map[string]any{"file": name + ".npy"}
		shape := ""
		for k, d := range c.shape {
			if k > 0 {
				shape += ","
			}
			if d >= 0 {
				shape += strconv.Itoa(d)
			}
		}
		entry["dtype"] = c.dtype.String()
		if c.shape != nil {
			entry["dtype"] = c.dtype.String() + "[" + shape + "]"
		}
		// The array has the dimensions after the last variable one.
		last := -1
		for k, d := range c.shape {
			if d == -1 {
				last = k
			}
		}
		size := c.rows
		if last >= 0 {
			list := c.lengths[len(c.lengths)-1]
			size = int(list[len(list)-1])
			var names []string
			for k, list := range c.lengths {
				names = append(names, fmt.Sprintf("%s-rows%d.npy", name, k))
				w.array(names[k], "u8", []int{len(list)}, graph.Bytes(list))
			}
			entry["row_offsets"] = names[0]
			if len(names) > 1 {
				entry["row_offsets"] = names
			}
		}
		dims := append([]int{size}, c.shape[last+1:]...)
		if c.dtype == graph.String {
			offsets, bytes := []uint64{0}, []byte{}
			for _, text := range c.texts {
				bytes = append(bytes, text...)
				offsets = append(offsets, uint64(len(bytes)))
			}
			w.array(name+".npy", "u1", []int{len(bytes)}, bytes)
			w.array(name+"-strings.npy", "u8", []int{len(offsets)}, graph.Bytes(offsets))
			entry["string_offsets"] = name + "-strings.npy"
		} else {
			w.array(name+".npy", store.Descr(c.dtype), dims, c.values)
		}
		out[f.name] = entry
	}
	return out
}

func (w *sourceWriter) array(name, descr string, shape []int, data []byte) {
	b, err := npy.AppendHeader(nil, descr, shape)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.file(name, append(b, data...))
}
