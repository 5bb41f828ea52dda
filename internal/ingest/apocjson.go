package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/graphjson"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// apocJSON is JSON of Neo4j's APOC (apoc.export.json.all) or of Memgraph (export_util.json): nodes with labels, and relationships with the ids, and in APOC the labels,
// of their ends.
type apocJSON struct{}

func (apocJSON) name() string { return "apoc-json" }
func (apocJSON) about() string {
	return "JSON lines or a list of nodes and relationships, of Neo4j's APOC or Memgraph; plain or as .gz or .zst"
}
func (apocJSON) becomes() string { return labelledBecomes }

func (apocJSON) detect(path string, names []string) bool {
	return names == nil && slices.Contains([]string{".json", ".jsonl", ".ndjson"}, table.Extension(path))
}

// sniff looks for the type of the first record.
func (apocJSON) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	text, err := head(fsys, path)
	if err != nil {
		return false, err
	}
	found := false
	_ = graphjson.ReadRecords(bytes.NewReader(text), path, func(*graphjson.Record) error { // a file that cannot be read is another one
		found = true
		return errFirst
	})
	return found, nil
}

// errFirst ends a read at its first record.
var errFirst = errors.New("found the first")

func (apocJSON) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	s, err := surveyRecords(ctx, fsys, path, graphjson.ReadRecords)
	if err != nil {
		return nil, err
	}
	if s.rows[1] == 0 || s.rows[0] == 0 && !s.labels {
		return nil, sourcef("%s: found %d nodes and %d relationships, expected some of both; export the whole graph", path, s.rows[0], s.rows[1])
	}
	l := &labelled{o: o, path: path}
	if s.rows[0] > 0 {
		t, err := s.table(fsys, false)
		if err != nil {
			return nil, err
		}
		l.nodes = append(l.nodes, &labelledNodes{Table: t, text: true, id: recordID, label: recordLabels, labelsOf: cutLabels(recordLabel)})
	}
	t, err := s.table(fsys, true)
	if err != nil {
		return nil, err
	}
	e := &labelledEdges{Table: t, text: true, src: recordStart, dst: recordEnd, rel: recordLabels, labelsOf: cutLabels(recordLabel)}
	if s.labels {
		e.labels = [2]string{recordStartLabels, recordEndLabels}
	}
	l.edges = append(l.edges, e)
	s.note(l)
	return l.source(ctx)
}

// recordsFunc reads the records of a file.
type recordsFunc func(in io.Reader, name string, fn func(*graphjson.Record) error) error

// surveyRecords reads a file for its properties.
func surveyRecords(ctx context.Context, fsys vfs.FS, path string, read recordsFunc) (*recordSurvey, error) {
	s := &recordSurvey{path: path, read: read}
	for i := range s.properties {
		s.properties[i] = map[string]*recordProperty{}
	}
	rows := 0
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		return read(in, path, func(x *graphjson.Record) error {
			if rows++; rows%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return s.add(x)
		})
	})
	return s, graphJSONError(err)
}

// note warns of what is left out.
func (s *recordSurvey) note(l *labelled) {
	if len(s.left) > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s: objects and lists of several kinds are left out: %s", s.path, strings.Join(slices.Sorted(maps.Keys(s.left)), ", ")))
	}
}

// The columns of records that are no properties.
const (
	recordID          = "~id"
	recordLabels      = "~labels"
	recordStart       = "~start"
	recordEnd         = "~end"
	recordStartLabels = "~start labels"
	recordEndLabels   = "~end labels"
)

// recordLabel separates the labels in a cell.
const recordLabel = "\x00"

// recordProperty is what the values of a property are.
type recordProperty struct {
	kinds graphjson.Kind
	list  graphjson.Kind // of the elements of lists
	guess table.Guess    // of texts
	wide  bool           // some integer is not an int64
}

// recordSurvey collects the properties of nodes and of relationships.
type recordSurvey struct {
	path string
	read recordsFunc
	// label is that of nodes without labels.
	label      string
	rows       [2]int // of nodes, and of relationships
	properties [2]map[string]*recordProperty
	// labels says that all relationships have the labels of their ends.
	labels bool
	left   map[string]bool
}

// of is 1 for relationships and 0 for nodes.
func (s *recordSurvey) of(x *graphjson.Record) int {
	if x.Edge {
		return 1
	}
	return 0
}

func (s *recordSurvey) add(x *graphjson.Record) error {
	of := s.of(x)
	if x.Edge {
		s.labels = x.HasLabels && (s.labels || s.rows[1] == 0)
	}
	s.rows[of]++
	for _, labels := range [][]string{x.Labels, x.StartLabels, x.EndLabels} {
		if err := checkLabels(fmt.Sprintf("%s:%d", s.path, x.Line), labels); err != nil {
			return err
		}
	}
	for name, v := range x.Values {
		if name == "" {
			return sourcef("%s:%d: found a property without a name, expected one; rename the property", s.path, x.Line)
		}
		if slices.Contains([]string{recordID, recordLabels, recordStart, recordEnd, recordStartLabels, recordEndLabels}, name) {
			return sourcef("%s:%d: found the property %q, which is the name of a column here, expected another; rename the property", s.path, x.Line, name)
		}
		p := s.properties[of][name]
		if p == nil {
			if len(s.properties[of]) == limits.Names {
				return sourcef("%s:%d: found more than %d names of properties, expected fewer; write rare ones as one text", s.path, x.Line, limits.Names)
			}
			p = &recordProperty{guess: table.Guess{Time: true}}
			s.properties[of][name] = p
		}
		p.add(v)
	}
	return nil
}

func (p *recordProperty) add(v graphjson.Value) {
	p.kinds |= v.Kind
	switch v.Kind {
	case graphjson.String:
		if len(bytes.TrimSpace(v.Text)) == 0 {
			return
		}
		if scalar.IsMissing(v.Text) {
			p.guess.Time = false
			return
		}
		p.guess.Add(v.Text, 0)
	case graphjson.Integer:
		p.integer(v)
	case graphjson.Nested:
		elements := v.Elements()
		if elements == nil {
			p.list |= graphjson.Nested
		}
		for _, x := range elements {
			p.list |= x.Kind
			if x.Kind == graphjson.Integer {
				p.integer(x)
			}
		}
	}
}

func (p *recordProperty) integer(v graphjson.Value) {
	if _, ok := scalar.ParseInt(v.Text, graph.Int64); !ok {
		p.wide = true
	}
}

// field is the field of a property; false: it is left out.
func (p *recordProperty) field(name string) (f table.Field, ok bool) {
	f = table.Field{Name: name, DType: graph.String}
	kinds := p.kinds &^ graphjson.Null
	if kinds&graphjson.Nested != 0 {
		if kinds != graphjson.Nested {
			return f, false
		}
		kinds, f.Shape = p.list, []int{-1}
		if kinds == 0 {
			kinds = graphjson.String // empty lists alone
		}
		if kinds&(graphjson.Nested|graphjson.Null) != 0 || kinds&graphjson.String != 0 && kinds != graphjson.String || kinds&graphjson.Bool != 0 && kinds != graphjson.Bool {
			return f, false
		}
	}
	switch {
	case kinds == 0:
		return f, false // null alone
	case kinds == graphjson.Bool:
		f.DType = graph.Bool
	case kinds == graphjson.Integer && !p.wide:
		f.DType = graph.Int64
	case kinds&^(graphjson.Integer|graphjson.Number) == 0:
		f.DType = graph.Float64
	case kinds == graphjson.String && f.Shape == nil && p.guess.Time && p.guess.Seen:
		f.DType = graph.Invalid // what the guess says
	}
	return f, true
}

// table opens the nodes or the relationships.
func (s *recordSurvey) table(fsys vfs.FS, edges bool) (table.Table, error) {
	fields := []table.Field{{Name: recordID, DType: graph.String}, {Name: recordLabels, DType: graph.String}}
	of := 0
	if edges {
		of = 1
		fields = []table.Field{{Name: recordStart, DType: graph.String}, {Name: recordEnd, DType: graph.String}, {Name: recordLabels, DType: graph.String}}
		if s.labels {
			fields = append(fields, table.Field{Name: recordStartLabels, DType: graph.String}, table.Field{Name: recordEndLabels, DType: graph.String})
		}
	}
	first := len(fields)
	guesses := make([]table.Guess, first)
	for _, name := range slices.Sorted(maps.Keys(s.properties[of])) {
		if f, ok := s.properties[of][name].field(name); ok {
			fields = append(fields, f)
			guesses = append(guesses, table.Guess{Time: true, Seen: true, Digits: s.properties[of][name].guess.Digits})
		} else if s.properties[of][name].kinds&^graphjson.Null != 0 {
			if s.left == nil {
				s.left = map[string]bool{}
			}
			s.left[name] = true
		}
	}
	t, err := textfiles.OpenStream(fsys, s.path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		cells := make([][]byte, len(fields))
		err := s.read(in, s.path, func(x *graphjson.Record) error {
			if x.Edge != edges {
				return nil
			}
			if edges {
				cells[0], cells[1], cells[2] = x.Start.Text, x.End.Text, []byte(x.Type)
				if s.labels {
					cells[3], cells[4] = []byte(strings.Join(x.StartLabels, recordLabel)), []byte(strings.Join(x.EndLabels, recordLabel))
				}
			} else {
				if cells[0], cells[1] = x.ID.Text, []byte(strings.Join(x.Labels, recordLabel)); len(x.Labels) == 0 {
					cells[1] = []byte(s.label)
				}
			}
			for i, f := range fields[first:] {
				v := x.Values[f.Name]
				if cells[first+i] = v.Text; v.Kind == graphjson.Nested {
					var err error
					if cells[first+i], err = listCell(v.Elements()); err != nil {
						return sourcef("%s:%d: property %q: %w", s.path, x.Line, f.Name, err)
					}
				}
			}
			return row(x.Line, cells)
		})
		return graphJSONError(err)
	})
	return &guessed{t, guesses}, err
}

// guessed is a table with what its cells look like.
type guessed struct {
	table.Table
	guesses []table.Guess
}

// Guess describes the fields.
func (t *guessed) Guess() ([]table.Guess, error) { return t.guesses, nil }

// listCell is a list as a cell of text. Texts are in quotes that they do not have.
func listCell(list []graphjson.Value) ([]byte, error) {
	cell := []byte{'['}
	for i, x := range list {
		if i > 0 {
			cell = append(cell, ',')
		}
		if x.Kind != graphjson.String {
			cell = append(cell, x.Text...)
			continue
		}
		quote := byte('"')
		if bytes.IndexByte(x.Text, quote) >= 0 {
			if quote = '\''; bytes.IndexByte(x.Text, quote) >= 0 {
				return nil, fmt.Errorf("found the text %.40q in a list, with both kinds of quotes, expected one kind; replace the quotes", x.Text)
			}
		}
		cell = append(append(append(cell, quote), x.Text...), quote)
	}
	return append(cell, ']'), nil
}
