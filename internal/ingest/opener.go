package ingest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/vfs"
)

// opener opens the files that a metadata file names. The same files give the same table.
type opener struct {
	fsys    vfs.FS
	meta    string // the metadata file
	dir     string // folder that names are relative to
	outside bool
	// member gives an array of an archive a name; nil: names mean files.
	member  func(archive, array string) (string, error)
	folders []string // that were named as tables
	tables  map[string]table.Table
	files   []string // files in use, each once
	used    map[string]bool
}

func newOpener(fsys vfs.FS, meta string, o Options) *opener {
	dir := o.DataPath
	if dir == "" {
		dir = filepath.Dir(meta)
	}
	p := &opener{fsys: fsys, meta: meta, dir: dir, outside: o.Outside, tables: map[string]table.Table{}, used: map[string]bool{}}
	p.use(meta)
	return p
}

// use records that a file is read.
func (p *opener) use(file string) {
	if !p.used[file] {
		p.used[file] = true
		p.files = append(p.files, file)
	}
}

// find resolves names: relative to the folder of the metadata file, as a plain name, a glob, base@N, or a folder of files, or
// as an array of an archive. It checks that the files are in that folder and are not reached through a symbolic link.
func (p *opener) find(names ...string) ([]string, error) {
	var files []string
	for _, name := range names {
		archive, array, archived := cutMember(name)
		if archived && p.member != nil {
			found, err := p.find(archive)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				path, err := p.member(f, array)
				if err != nil {
					return nil, arrayError(err)
				}
				files = append(files, path)
			}
			continue
		}
		found, folder, err := tablefiles.Find(p.fsys, p.dir, name, p.outside)
		if err != nil {
			return nil, sourcef("%s: %w", p.meta, err)
		}
		if folder != "" && !slices.Contains(p.folders, folder) {
			p.folders = append(p.folders, folder)
		}
		for _, f := range found {
			path, isLog := tablefiles.CutLog(f)
			if !catalog.Is(path) { // Find has checked that one may be read
				if err := p.inside(p.dir, path); err != nil {
					return nil, err
				}
			}
			if !isLog { // the files of a lake's table are known when it is open
				p.use(f)
			}
		}
		files = append(files, found...)
	}
	return files, nil
}

// cutMember cuts the name of an array of an archive, "data.npz:x".
func cutMember(name string) (archive, array string, ok bool) {
	at := strings.Index(name, npzSuffix+":")
	if at < 0 {
		return name, "", false
	}
	at += len(npzSuffix)
	return name[:at], name[at+1:], true
}

// inside refuses symbolic links between a folder and a file in it.
func (p *opener) inside(dir, file string) error {
	if p.outside {
		return nil
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return sourcef("%s: found the table %s, expected one within %s; allow files outside of it with `AllowOutside`", p.meta, file, dir)
	}
	err = vfs.Inside(p.fsys, dir, file)
	if link, ok := errors.AsType[*vfs.LinkError](err); ok {
		return sourcef("%s: found the symbolic link %s, which can lead out of %s; allow it with `AllowOutside`", p.meta, link.Path, dir)
	}
	return err
}

// open opens a table of any kind. mark is that of the rows that were taken before, of a lake's table.
func (p *opener) open(names []string, csv textfiles.CSVOptions, mark string) (table.Table, error) {
	files, err := p.find(names...)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%q %q %v %d %q %q", files, csv.Names, csv.Header, csv.Delimiter, csv.Missing, mark)
	if t := p.tables[key]; t != nil {
		return t, nil
	}
	t, err := openTable(p.fsys, files, tablefiles.Options{CSVOptions: csv, Folders: p.folders, Outside: p.outside, Mark: mark})
	if err != nil {
		if none := (*textfiles.NoHeaderError)(nil); errors.As(err, &none) {
			err = fmt.Errorf("%w (%s)", err, p.meta)
		}
		return nil, err
	}
	if _, isLog := tablefiles.CutLog(files[0]); isLog {
		for _, f := range t.Files() {
			p.use(f)
		}
	}
	p.tables[key] = t
	return t, nil
}
