package ingest

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// neo4j is a folder of CSV files with headers of neo4j-admin database import, in the files of the rows or in files of their own. So are Neptune's
// files for openCypher, and what APOC exports with bulkImport.
type neo4j struct{}

func (neo4j) name() string { return "neo4j" }
func (neo4j) about() string {
	return "a folder of CSV with headers of Neo4j's importer, such as :ID, :LABEL, :START_ID, :END_ID and :TYPE, perhaps in files of their own"
}
func (neo4j) becomes() string { return labelledBecomes }

func (neo4j) detect(_ string, names []string) bool { return len(names) > 0 }

func (neo4j) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	return sniffTables(fsys, path, names, isNeo4jNodes)
}

// isNeo4jHeader says whether some column has ids, or sources of edges.
func isNeo4jHeader(header []string) bool {
	return isNeo4jNodes(header) || hasMeaning(header, ":START_ID")
}

// isNeo4jNodes says whether a header is one of nodes. A folder of edges alone is a table of edges.
func isNeo4jNodes(header []string) bool {
	return hasMeaning(header, ":ID") && !hasMeaning(header, ":START_ID")
}

func hasMeaning(header []string, usual string) bool {
	return slices.ContainsFunc(header, func(h string) bool { return means(h, usual, false) && strings.Contains(h, ":") })
}

// neo4jFile is the rows of files with one header.
type neo4jFile struct {
	header    []string
	files     []string // of the rows
	own       bool     // the header is in the files
	delimiter byte
	name      string // of the first file, without what its kind says
}

func (neo4j) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	files, err := databaseFiles(fsys, path, o, table.Text)
	if err != nil {
		return nil, err
	}
	groups, headers, err := neo4jFiles(fsys, path, files, o)
	if err != nil {
		return nil, err
	}
	var tables []*neo4jTable
	for _, g := range groups {
		csv := textfiles.CSVOptions{Delimiter: o.Delimiter, ListDelimiter: o.ArrayDelimiter, RepeatedIDs: true}
		if !g.own {
			csv.Names, csv.Typed = g.header, true
			csv.Delimiter = g.delimiter
		}
		t, err := tablefiles.Open(fsys, g.files, tablefiles.Options{CSVOptions: csv})
		if err != nil {
			return nil, err
		}
		x, err := openNeo4j(t, g)
		if err != nil {
			return nil, err
		}
		tables = append(tables, x)
	}
	l := &labelled{o: o, path: path}
	if err := l.addNeo4j(tables); err != nil {
		return nil, err
	}
	s, err := l.source(ctx)
	if err == nil {
		s.use(headers)
	}
	return s, err
}

// headerWord is the part of a name that says that the file is the header of others.
var headerWord = regexp.MustCompile(`(?i)[-_.]?headers?`)

// neo4jFiles groups files by their headers, and returns the files that are headers alone.
func neo4jFiles(fsys vfs.FS, path string, files []string, o Options) (groups []*neo4jFile, headers []string, err error) {
	var rows []string // files without a header
	var alone []*neo4jFile
	for _, f := range files {
		header, delimiter, err := headerOf(fsys, f, o.Delimiter)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !isNeo4jHeader(header):
			rows = append(rows, f)
		case headerWord.MatchString(filepath.Base(f)):
			alone, headers = append(alone, &neo4jFile{header: header, delimiter: delimiter, name: f}), append(headers, f)
		default:
			if n := len(groups); n > 0 && slices.Equal(groups[n-1].header, header) && partStem(groups[n-1].name) == partStem(f) {
				groups[n-1].files = append(groups[n-1].files, f)
				continue
			}
			groups = append(groups, &neo4jFile{header: header, own: true, files: []string{f}, name: f})
		}
	}
	for _, f := range rows {
		var best *neo4jFile
		for _, h := range alone {
			if isRowsOf(h.stem(), stemOf(filepath.Base(f))) && (best == nil || len(h.stem()) > len(best.stem())) {
				best = h
			}
		}
		if best == nil {
			return nil, nil, sourcef("%s: found a table without a header of Neo4j, and no file NAME-header.csv whose NAME begins its name, expected one of them; add a header such as :ID,name,:LABEL or :START_ID,:END_ID,:TYPE, or move the file out of the folder", f)
		}
		best.files = append(best.files, f)
	}
	for _, h := range alone {
		if h.files == nil {
			h.own, h.files = true, []string{h.name} // it has its rows, or there are none
		}
		groups = append(groups, h)
	}
	slices.SortStableFunc(groups, func(a, b *neo4jFile) int { return cmp.Compare(a.name, b.name) })
	return groups, headers, nil
}

// stem is the name of a file of a header, without what says that it is one.
func (g *neo4jFile) stem() string {
	return strings.TrimLeft(headerWord.ReplaceAllString(stemOf(filepath.Base(g.name)), ""), "-_.")
}

// stemOf is a name without its extensions.
func stemOf(name string) string {
	ext, compressed := table.SplitExtension(name)
	name = name[:len(name)-len(compressed)]
	return name[:len(name)-len(ext)]
}

// isRowsOf says whether a name is the stem, or continues it after a sign or with a number.
func isRowsOf(stem, name string) bool {
	rest, ok := strings.CutPrefix(name, stem)
	return ok && (rest == "" || strings.ContainsRune("-_.0123456789", rune(rest[0])))
}

// partNumber is the end of the name of one of several files with one header.
var partNumber = regexp.MustCompile(`(?i)[-_.]?(part)?[-_.]?[0-9]+$`)

// partStem is the path of a file without the number of the part.
func partStem(file string) string {
	return filepath.Join(filepath.Dir(file), partNumber.ReplaceAllString(stemOf(filepath.Base(file)), ""))
}

// neo4jKindWord is the part of a name of a file that says what it has.
var neo4jKindWord = regexp.MustCompile(`(?i)^(graph[-_.])?(nodes?|vertices|relationships?|rels?|edges?)[-_.]`)

// typeByName is a type by the name of a file: "nodes_Person_0.csv" is Person.
func (g *neo4jFile) typeByName() string {
	name := partNumber.ReplaceAllString(g.stem(), "")
	return neo4jKindWord.ReplaceAllString(name, "")
}
