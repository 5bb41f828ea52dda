package ingest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// format is a kind of source.
type format interface {
	name() string
	// about describes paths of the format, and becomes what a source turns into.
	about() string
	becomes() string
	// detect says whether a path looks like the format. names are the files in it if it is a folder.
	detect(path string, names []string) bool
	open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error)
}

// sniffer is a format whose paths look like paths of other formats, too.
type sniffer interface {
	// sniff says whether the content of a path that detect accepts is of the format.
	sniff(fsys vfs.FS, path string, names []string) (bool, error)
}

// formats are in the order in which detect tries them.
var formats = []format{graphAr{}, graphYAML{}, openKE{}, chunkFiles{}, dgfGraph{}, unigraph{}, tuDataset{}, ogbDataset{}, konect{}, metisGraph{}, dimacs{}, nTriples{}, graphML{}, matrixMarket{}, adjacencyList{}, ncol, lgl, simpleInteractions{}, kuzu{}, neo4j{}, neptune{}, apocCSV{}, apocJSON{}, arangoDB{}, edgeList{}, denseMatrix{}, npyEdges{}, npzArrays{}, dglChunks{}, dglGraphs{}, dglParts{}, tripleFiles{}, nodeLink, jgf, cytoscapeJS, cx2, adjacencyJSON{}}

// Format describes a format for a person.
type Format struct {
	Name string
	// About says what a source of the format looks like, and Becomes what is made of it.
	About, Becomes string
}

// List describes the formats.
func List() []Format {
	var list []Format
	for _, f := range formats {
		list = append(list, Format{f.name(), f.about(), f.becomes()})
	}
	return list
}

// Formats lists the names of the formats.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name())
	}
	return names
}

// headSize is the number of bytes of a file that are read to recognise its format.
const headSize = 64 << 10

// detect returns the format of a path, which exists or is a pattern of files.
func detect(fsys vfs.FS, path string, o Options) (format, error) {
	if is, err := tablefiles.IsLake(fsys, path); errors.Is(err, table.ErrFormat) {
		return nil, sourcef("%w", err)
	} else if err != nil {
		return nil, err
	} else if is {
		return edgeList{}, nil
	}
	var names []string
	info, err := fsys.Stat(path)
	switch {
	case vfs.Absent(err) && !isPattern(path):
		return nil, tagged.Errorf(fs.ErrNotExist, "%s: found no such file or folder, expected one; correct the path", path)
	case err != nil && !vfs.Absent(err):
		return nil, err
	case err == nil && info.IsDir():
		entries, err := fsys.ReadDir(path)
		if err != nil {
			return nil, err
		}
		names = []string{}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	case err == nil && info.Mode().IsRegular():
		if err := refuse(fsys, path, info.Size(), o); err != nil {
			return nil, err
		}
	}
	if f, err := detectNamed(fsys, path, names); f != nil || err != nil {
		return f, err
	}
	if names == nil && err == nil {
		if err := refuseLists(fsys, path); err != nil {
			return nil, err
		}
		if kind, err := tablefiles.KindOf(fsys, path); err == nil && kind != table.Unknown && kind != table.Array && kind != table.TFRecords {
			return edgeList{}, nil
		}
	}
	if slices.Contains(names, rawDir) && filepath.Base(path) != rawDir {
		return detect(fsys, filepath.Join(path, rawDir), o)
	}
	return nil, unrecognised(path, names)
}

// detectNamed returns the format of a path by its name and the names in it, if it is a folder, and by content where names do not
// tell; nil: none.
func detectNamed(fsys vfs.FS, path string, names []string) (format, error) {
	if names == nil && filepath.Ext(path) == ".json" { // other formats also have .json files
		k, err := graphJSONOf(fsys, path)
		if err != nil {
			return nil, err
		}
		if k != nil {
			return k, nil
		}
		if ok, err := dgl.IsConfig(fsys, path); ok || err != nil {
			return dglParts{}, err
		}
	}
	for _, f := range formats {
		if !f.detect(path, names) {
			continue
		}
		if s, ok := f.(sniffer); ok {
			if is, err := s.sniff(fsys, path, names); err != nil {
				return nil, err
			} else if !is {
				continue
			}
		}
		return f, nil
	}
	return nil, nil
}

// detectBelow is detect, and returns the path of the source: a folder of no known format whose only folder is a data set
// stands for that data set. OGB's DatasetSaver writes such folders.
func detectBelow(fsys vfs.FS, path string, o Options) (format, string, error) {
	f, err := detect(fsys, path, o)
	if err == nil {
		return f, path, nil
	}
	if !errors.Is(err, ErrSource) { // the disk does not answer
		return nil, "", err
	}
	info, failed := fsys.Stat(path)
	if failed != nil && !vfs.Absent(failed) { // the name may be a pattern
		return nil, "", failed
	}
	if failed != nil || !info.IsDir() {
		return nil, "", err
	}
	entries, failed := fsys.ReadDir(path)
	if failed != nil {
		return nil, "", failed
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	if len(entries) != 1 {
		return nil, "", err
	}
	below := filepath.Join(path, entries[0].Name())
	switch f, failed := detect(fsys, below, o); f.(type) {
	case ogbDataset, tuDataset:
		return f, below, nil
	case nil:
		if !errors.Is(failed, ErrSource) {
			return nil, "", failed
		}
	}
	return nil, "", err
}

// head returns the first bytes of a file, decompressed and without a byte order mark.
func head(fsys vfs.FS, path string) ([]byte, error) {
	text, err := textfiles.Head(fsys, path, headSize)
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), err
}
