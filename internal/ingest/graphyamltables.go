package ingest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
)

// source holds the parts that node and edge types share: a table, arrays with the same rows, and columns.
type source struct {
	at      ast.Node
	names   []string // file names of the table
	lines   string   // a file of JSON lines that is the table, in place of names
	query   *queryEntry
	taken   string // the mark of the rows of a lake's table that were taken before
	csv     textfiles.CSVOptions
	listed  bool // the file lists the columns
	columns []columnEntry
	// features are what the file makes of the columns.
	features []features.Spec
	keys     []string // listed arrays that are ids or ends, and no features
	// base is the table without the arrays, joined the table of the arrays.
	base, joined table.Table
	fields       []looks
	beside       []arrayfiles.NpyColumn // arrays with the same rows that are not columns of the type
}

type columnEntry struct {
	wanted
	at    ast.Node
	file  string           // an .npy array, or text without a header
	lists arrayfiles.Lists // the offsets of an array of strings or lists
}

var tableKeys = []string{"table", "source", "query", "mark", "columns", "names", "delimiter", "header", "missing_texts", "features"}

// readSource reads a key that node and edge types share.
func (l *lister) readSource(f yamlfile.Entry, s *source) (err error) {
	switch f.Key {
	case "source", "query", "mark":
		return l.readQuery(f, s)
	case "features":
		s.features, err = readFeatures(l.y, f.Value)
	case "table":
		s.names, err = l.y.Texts(f.Value, "the name of a file")
	case "names":
		s.csv.Names, err = l.y.Texts(f.Value, "the names of the columns")
	case "header":
		s.csv.Header, err = l.y.Boolean(f.Value)
	case "missing_texts":
		s.csv.Missing, err = l.readMissingTexts(f.Value)
	case "delimiter":
		var d string
		if d, err = l.y.Text(f.Value, "a delimiter"); err == nil {
			if len(d) != 1 || !strings.Contains(",\t;| ", d) {
				return l.y.Errorf(f.Value, "found the delimiter %q, expected one of \",\", \"\\t\", \";\", \"|\" and \" \" (runs of spaces and tabs)", d)
			}
			s.csv.Delimiter = d[0]
		}
	case "columns":
		s.listed = true
		if list, ok := f.Value.(*ast.SequenceNode); ok {
			for _, v := range list.Values {
				name, err := l.y.Text(v, "the name of a column")
				if err != nil {
					return err
				}
				s.columns = append(s.columns, columnEntry{wanted: wanted{Field: table.Field{Name: name}}, at: v})
			}
			return nil
		}
		entries, err := l.y.Mapping(f.Value, "columns", nil)
		for _, e := range entries {
			c, err := l.readColumn(e)
			if err != nil {
				return err
			}
			s.columns = append(s.columns, c)
		}
		return err
	}
	return err
}

// readMissingTexts reads the texts that stand for an empty cell.
func (l *lister) readMissingTexts(n ast.Node) ([]string, error) {
	texts, err := l.y.Texts(n, `texts that stand for an empty cell, such as ["-", "n/a"]; write null in quotes`)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if t == "" || strings.TrimSpace(t) != t {
			return nil, l.y.Errorf(n, "found the text %q in missing_texts, expected one without blanks at its ends, which do not count, and not an empty one, which is an empty cell anyway; remove the blanks, or the entry", t)
		}
	}
	return texts, nil
}

// checkMissingTexts refuses missing_texts of what is no table of text by its keys. Other kinds of files are refused when they are opened.
func (l *lister) checkMissingTexts(e yamlfile.Entry, s *source) error {
	switch {
	case s.csv.Missing == nil || s.names != nil && !isArray(s.names[0]):
		return nil
	case s.query != nil:
		return l.y.Errorf(e.At, "found missing_texts with the query of %s, expected them with text files; write NULLIF(column, 'text') in the query", e.Key)
	}
	return l.y.Errorf(e.At, "found missing_texts of %s without a table of text, expected a CSV or JSON lines; remove missing_texts", e.Key)
}

// array says whether a listed column is an array.
func (s *source) array(name string) bool {
	return slices.ContainsFunc(s.columns, func(c columnEntry) bool { return c.Name == name && isArray(c.file) })
}

// keyed marks a listed array as the ids of nodes or an end of edges, and so as no feature.
func (s *source) keyed(name string) {
	if s.array(name) {
		s.keys = append(s.keys, name)
	}
}

// isColumn says whether a name names a file with one column.
func isColumn(name string) bool { return isArray(name) || isText(name) }

// readColumn reads "int64", "float32[128]", "feat.npy", "data.npz:x", "feat.csv.gz" or a mapping.
func (l *lister) readColumn(e yamlfile.Entry) (columnEntry, error) {
	c := columnEntry{wanted: wanted{Field: table.Field{Name: e.Key}}, at: e.At}
	if s, ok := e.Value.(*ast.StringNode); ok {
		if isColumn(s.Value) {
			c.file = s.Value
			return c, nil
		}
		return c, l.readType(&c, e.Value, s.Value)
	}
	fields, err := l.y.Mapping(e.Value, "dtype, file, array, from, categories and missing", []string{"dtype", "file", "array", "row_offsets", "string_offsets", "from", "categories", "missing", "empty"})
	if err != nil {
		return c, err
	}
	array := ""
	for _, f := range fields {
		var s string
		switch f.Key {
		case "row_offsets":
			c.lists.Rows, err = l.y.Texts(f.Value, "the name of an .npy array")
		case "from":
			c.from, err = l.y.Texts(f.Value, "columns to join")
		case "categories":
			if c.categories, err = l.y.Texts(f.Value, "the texts of the categories"); err == nil {
				if _, bad := table.NewCategories(c.categories); bad != nil {
					err = l.y.Errorf(f.Value, "column %q: %w", c.Name, bad)
				}
			}
		default:
			s, err = l.y.Text(f.Value, "a value")
		}
		if err != nil {
			return c, err
		}
		switch f.Key {
		case "string_offsets":
			c.lists.Strings = s
		case "dtype":
			err = l.readType(&c, f.Value, s)
		case "file":
			if c.file = s; !isColumn(s) && filepath.Ext(s) != npzSuffix {
				err = l.y.Errorf(f.Value, "found the file %q, expected an .npy array, an archive .npz with the key array, or numbers as .csv, .tsv or .txt without a header", s)
			}
		case "array":
			array = s
		case "missing", "empty":
			c.missing = s
		}
		if err != nil {
			return c, err
		}
	}
	if archive := filepath.Ext(c.file) == npzSuffix; archive != (array != "") {
		return c, l.y.Errorf(e.At, "found file %q and array %q of column %q, expected both for an array of an archive .npz, and otherwise no array; add the missing key, or remove array", c.file, array, c.Name)
	} else if archive {
		c.file += ":" + array
	}
	switch {
	case (c.lists.Rows != nil || c.lists.Strings != "") && (!isArray(c.file) || c.DType == graph.Invalid):
		return c, l.y.Errorf(e.At, "found offsets of column %q, expected also its dtype with its shape, such as \"int64[]\", and an .npy array as its file", c.Name)
	case c.categories != nil && c.DType == graph.Invalid:
		c.DType, c.Category = graph.String, true
	case c.categories != nil && !c.Category:
		return c, l.y.Errorf(e.At, "found categories of column %q with another dtype, expected the dtype category; remove categories, or give the dtype", c.Name)
	case c.from != nil && c.file != "":
		return c, l.y.Errorf(e.At, "found from and file of column %q, expected one of them", c.Name)
	}
	return c, nil
}

func (l *lister) readType(c *columnEntry, at ast.Node, s string) error {
	f, err := parseType(s)
	if err != nil {
		return l.y.Errorf(at, "column %q: %w", c.Name, err)
	}
	f.Name = c.Name
	c.Field = f
	return nil
}
