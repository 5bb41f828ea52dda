package ingest

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/graphmill/graphmill/format/graphjson"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// arangoDB is a folder of collections of ArangoDB, as arangodump or arangoexport write them: a file of JSON for each, named after it.
type arangoDB struct{}

func (arangoDB) name() string { return "arangodb" }
func (arangoDB) about() string {
	return "a folder of arangodump or arangoexport, with a file of JSON lines or a list for each collection, plain or as .gz"
}
func (arangoDB) becomes() string {
	return "a node type for each collection of documents; an edge type for each collection of edges and pair of collections"
}

func (arangoDB) detect(_ string, names []string) bool {
	for _, n := range names {
		if arangoCollection(n) != "" {
			return true
		}
	}
	return false
}

// sniff looks for a document in the first files.
func (arangoDB) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	tried := 0
	for _, n := range names {
		if arangoCollection(n) == "" || tried == sniffed {
			continue
		}
		tried++
		text, err := head(fsys, filepath.Join(path, n))
		if err != nil {
			return false, err
		}
		found := false
		_ = graphjson.ReadDocuments(bytes.NewReader(text), n, func(*graphjson.Record) error {
			found = true
			return errFirst
		})
		if found {
			return true, nil
		}
	}
	return false, nil
}

// arangoHash is what arangodump puts after the name of a collection.
var arangoHash = regexp.MustCompile(`_[0-9a-f]{32}$`)

// arangoCollection is the collection of a file by its name; empty: it has none, or one of the system.
func arangoCollection(name string) string {
	ext := table.Extension(name)
	if ext != ".json" && ext != ".jsonl" && ext != ".ndjson" {
		return ""
	}
	stem := strings.TrimSuffix(stemOf(name), ".data")
	if strings.HasPrefix(stem, "_") || strings.HasSuffix(stem, ".structure") || stem == "dump" || strings.HasSuffix(stem, ".view") {
		return ""
	}
	return arangoHash.ReplaceAllString(stem, "")
}

func (arangoDB) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	d := &raw{fsys: fsys, dir: path, o: o}
	if err := d.list(); err != nil {
		return nil, err
	}
	l := &labelled{o: o, path: path, keyed: true}
	for _, n := range d.names {
		name := arangoCollection(n)
		if name == "" {
			continue
		}
		file := filepath.Join(path, n)
		if err := d.inside(file); err != nil {
			return nil, err
		}
		if err := l.addCollection(ctx, fsys, file, name); err != nil {
			return nil, err
		}
	}
	return l.source(ctx)
}

// addCollection adds the file of a collection. One without documents says nothing.
func (l *labelled) addCollection(ctx context.Context, fsys vfs.FS, file, name string) error {
	s, err := surveyRecords(ctx, fsys, file, graphjson.ReadDocuments)
	if err != nil {
		return err
	}
	if s.rows[0] > 0 && s.rows[1] > 0 {
		return sourcef("%s: found %d documents without _from and _to, and %d with them, expected documents of one kind; dump the collection again", file, s.rows[0], s.rows[1])
	}
	s.label = name
	for i := range s.rows {
		if s.rows[i] == 0 {
			continue
		}
		t, err := s.table(fsys, i == 1)
		if err != nil {
			return err
		}
		if i == 0 {
			l.nodes = append(l.nodes, &labelledNodes{Table: t, text: true, id: recordID, label: recordLabels, labelsOf: cutLabels(recordLabel)})
		} else {
			l.edges = append(l.edges, &labelledEdges{Table: withoutFields(t, recordLabels), text: true, src: recordStart, dst: recordEnd, typ: typeName(name, ""), labels: [2]string{recordStartLabels, recordEndLabels}, labelsOf: cutLabels(recordLabel)})
		}
	}
	s.note(l)
	return nil
}
