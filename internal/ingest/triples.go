package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// entity is the node type of triples.
const entity = "entity"

// maxRelations is the number of relations up to which each becomes an edge type by default. If it is told to, it does so up to limits.Names.
const maxRelations = 1000

// nTriples is a file of N-Triples or N-Quads. It gives one node type.
type nTriples struct{}

func (nTriples) name() string  { return "ntriples" }
func (nTriples) about() string { return ".nt or .nq (RDF), plain or as .gz or .zst" }
func (nTriples) becomes() string {
	return "a node type entity with IRIs as ids; an edge type for each predicate, or a column of them"
}
func (nTriples) detect(path string, names []string) bool {
	return names == nil && slices.Contains([]string{".nt", ".nq", ".ntriples", ".nquads"}, table.Extension(path))
}

func (nTriples) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	t, err := textfiles.OpenNTriples(fsys, path)
	if err != nil {
		return nil, err
	}
	s := &Source{Files: t.Files()}
	if err := s.triples(ctx, t, o, iriNames, nil); err != nil {
		return nil, err
	}
	s.skipped = func() (int64, string) {
		return t.Left(), "triples are left out, because their object is a literal and not a node"
	}
	if ext := table.Extension(path); ext == ".nq" || ext == ".nquads" {
		s.Warnings = append(s.Warnings, path+": the labels of graphs are not imported")
	}
	return s, nil
}

// tripleFiles is a folder with train, valid and test files of head, relation and tail, or one such file.
type tripleFiles struct{}

func (tripleFiles) name() string { return "triples" }
func (tripleFiles) about() string {
	return "a folder with train.txt, valid.txt and test.txt of head, relation and tail, separated by tabs; or one such file if the format is named"
}
func (tripleFiles) becomes() string {
	return "a node type entity; an edge type for each relation, or a column of them; a column split"
}

// splits are the names of files without extensions, and of their splits.
var splits = []string{"train", "valid", "test"}

// splitFile returns the file of a split in a folder, or "".
func splitFile(names []string, split string) string {
	for _, ext := range []string{".txt", ".tsv", ".txt.gz", ".tsv.gz"} {
		if slices.Contains(names, split+ext) {
			return split + ext
		}
	}
	return ""
}

// detect accepts folders. A file of three columns is recognised by nothing.
func (tripleFiles) detect(_ string, names []string) bool { return splitFile(names, splits[0]) != "" }

// sniff looks for three cells in the first line.
func (tripleFiles) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	text, err := head(fsys, filepath.Join(path, splitFile(names, splits[0])))
	if err != nil {
		return false, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Count(line, []byte("\t")) == 2, nil
}

func (tripleFiles) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Source{}
	var relations []string
	var t *textfiles.Lines
	if !info.IsDir() {
		t, err = textfiles.OpenTriples(fsys, []string{path}, nil)
	} else {
		d := &raw{fsys: fsys, dir: path, o: o}
		if err = d.list(); err != nil {
			return nil, err
		}
		var paths, labels []string
		for _, split := range splits {
			if file := splitFile(d.names, split); file != "" {
				paths, labels = append(paths, filepath.Join(path, file)), append(labels, split)
				if err := d.inside(paths[len(paths)-1]); err != nil {
					return nil, err
				}
			}
		}
		if paths == nil {
			return nil, sourcef("%s: found no train.txt, expected train.txt, valid.txt and test.txt, or one file of triples; add the file, or name one file of triples", path)
		}
		if t, err = textfiles.OpenTriples(fsys, paths, labels); err != nil {
			return nil, err
		}
		if relations, err = s.dictionaries(ctx, d); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	s.Files = append(s.Files, t.Files()...)
	return s, s.triples(ctx, t, o, plainNames, relations)
}

// dictionaries reads entities.dict, which becomes the table of the nodes, and relations.dict.
func (s *Source) dictionaries(ctx context.Context, d *raw) (relations []string, err error) {
	for _, file := range []string{"entities.dict", "relations.dict"} {
		if !slices.Contains(d.names, file) {
			continue
		}
		path := filepath.Join(d.dir, file)
		if err := d.inside(path); err != nil {
			return nil, err
		}
		t, err := textfiles.OpenPairsOfText(d.fsys, path, "number", "name")
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, path)
		isNodes := file == "entities.dict"
		_, err = t.Scan(ctx, []table.Column{{Name: "number", DType: graph.String}, {Name: "name", DType: graph.String, ID: true}}, 1, func(_ int, c *table.Chunk) error {
			numbers, names := texts(&c.Columns[0]), texts(&c.Columns[1])
			for i, number := range numbers {
				if want := strconv.FormatUint(c.First+uint64(i), 10); string(number) != want {
					return sourcef("%s: found number %q, expected %s: the lines number the names from 0 in order; sort the lines by their numbers", t.Where(c.First+uint64(i), ""), number, want)
				}
				if !isNodes {
					if len(relations) == limits.Names {
						return sourcef("%s: found more than %d relations, expected fewer; read them as a column with `Relations` column", path, limits.Names)
					}
					relations = append(relations, string(names[i]))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if isNodes {
			s.Input.Nodes = []assemble.Nodes{{Type: entity, Table: t, ID: table.Column{Name: "name", DType: graph.String, ID: true}}}
		}
	}
	return relations, nil
}

// texts returns the strings of a vector.
func texts(v *table.Vector) [][]byte {
	list := make([][]byte, len(v.Ends))
	start := uint32(0)
	for i, end := range v.Ends {
		list[i] = v.Data[start:end]
		start = end
	}
	return list
}

// triples makes the graph of a table with the columns head, relation and tail, of which head and tail are numbers if the ids of the nodes
// of s are. naming gives the names of edge types.
// relations are those that are known before the table is read, in order; others follow by first appearance.
func (s *Source) triples(ctx context.Context, t table.Table, o Options, naming func([]string) []string, relations []string) error {
	numbered := s.Input.Nodes != nil && s.Input.Nodes[0].ID.DType == graph.Uint64
	if !numbered && (o.IDs == idsInteger || o.NumNodes > 0) {
		return usagef("found `NumNodes` or integer ids with triples, expected neither: their ids are strings")
	}
	s.Primary = graph.In
	if s.Input.Nodes == nil {
		s.Input.Nodes = []assemble.Nodes{{Type: entity, ID: table.Column{DType: graph.String}}}
	}
	e := assemble.Edges{Table: t, Src: keyColumn(textfiles.TripleHead, numbered), Dst: keyColumn(textfiles.TripleTail, numbered)}
	columns := declared(t.Fields()[3:])
	for i := range columns {
		columns[i].Category = true
	}
	var err error
	if e.Columns, _, err = featuresOf(ctx, t, columns, o); err != nil {
		return err
	}
	for _, c := range e.Columns {
		if c.Name == textfiles.TripleSplit {
			c.Categories.Set(transform.Parts)
		}
	}
	limit := limits.Names
	if o.Relations == "" {
		limit = maxRelations
	}
	many := o.Relations == "column"
	if !many {
		list, err := relationsOf(ctx, t, relations, limit)
		switch {
		case err == nil:
			relations = list
		case !errors.Is(err, errMany):
			return err
		case o.Relations != "":
			return sourcef("%s: found more than %d relations, expected fewer for an edge type each; give `Relations` column", t.Files()[0], limit)
		default:
			many = true
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: found more than %d relations, so they become the column relation of one edge type; give `Relations` types to make an edge type of each", t.Files()[0], limit))
		}
	}
	if many {
		e.Type = graph.EdgeType{Src: entity, Rel: "to", Dst: entity}
		relation, _, err := featuresOf(ctx, t, declared([]table.Field{{Name: textfiles.TripleRelation, DType: graph.String, Category: true}}), o)
		if err != nil {
			return err
		}
		e.Columns = append(e.Columns, relation...)
		s.Input.Edges = []assemble.Edges{e}
		return nil
	}
	if len(relations) == 0 && s.Rules.Partial { // nodes alone
		return nil
	}
	if len(relations) == 0 {
		return sourcef("%s: found no triples between nodes, expected some; check that objects are IRIs, not only literals", t.Files()[0])
	}
	for i, name := range naming(relations) {
		if err := graph.CheckName(name); err != nil {
			return sourcef("%s: relation %q: %w; give `Relations` column", t.Files()[0], relations[i], err)
		}
		e.Type = graph.EdgeType{Src: entity, Rel: name, Dst: entity}
		e.Where = &assemble.Filter{Column: textfiles.TripleRelation, Value: relations[i], Own: true}
		s.Input.Edges = append(s.Input.Edges, e)
	}
	return checkTwice(&s.Input)
}

// errMany ends the search for relations.
var errMany = errors.New("too many relations")

// relationsOf returns the known relations and then the others of a table, by first appearance. It reads all of the table, and
// holds the relations, of which there are at most limit.
func relationsOf(ctx context.Context, t table.Table, known []string, limit int) ([]string, error) {
	list := slices.Clone(known)
	seen := map[string]bool{}
	for _, r := range known {
		seen[r] = true
	}
	if len(list) > limit {
		return nil, errMany
	}
	// The scan is in the order of the rows, whatever the number of threads is.
	_, err := t.Scan(ctx, []table.Column{{Name: textfiles.TripleRelation, DType: graph.String, ID: true}}, 2, func(_ int, c *table.Chunk) error {
		for _, r := range texts(&c.Columns[0]) {
			if seen[string(r)] {
				continue
			}
			if len(list) == limit {
				return errMany
			}
			seen[string(r)] = true
			list = append(list, string(r))
		}
		return nil
	})
	return list, err
}

// plainNames returns relations as names of edge types, which have no ':'.
func plainNames(relations []string) []string {
	names := make([]string, len(relations))
	for i, r := range relations {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(r, "%", "%25"), ":", "%3A")
		if !strings.Contains(r, ":") {
			names[i] = r
		}
	}
	return names
}

// iriNames returns the parts of IRIs after the last '#', '/' or ':', where they differ from each other, and otherwise
// whole IRIs with "%3A" for ':'.
func iriNames(relations []string) []string {
	local := func(r string) string { return r[strings.LastIndexAny(r, "#/:")+1:] }
	count := map[string]int{}
	for _, r := range relations {
		count[local(r)]++
	}
	names := make([]string, len(relations))
	for i, r := range relations {
		if names[i] = local(r); names[i] == "" || count[names[i]] > 1 {
			names[i] = strings.ReplaceAll(r, ":", "%3A")
		}
	}
	return names
}
