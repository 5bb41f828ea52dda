// Package messages writes the edges of a store that a plan has as messages (sample.Messages) to files beside it, and opens the store with
// these edges alone. All executors then sample the messages as they sample a store.
package messages

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Write writes the messages of a valid plan on a graph to a new folder, and returns its array files by edge type and array, for store.Overlay.
// Edge types whose edges are all messages have none. touched is sample.Options.Touched, or nil. Where it fails, the folder is removed.
func Write(ctx context.Context, fsys vfs.FS, dir string, g *graph.Graph, p *sample.Plan, touched func(bytes int64) error) (arrays map[string]map[string]string, err error) {
	if err := fsys.Mkdir(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, fsys.RemoveAll(dir))
		}
	}()
	w := &writer{fsys: fsys, dir: dir, arrays: map[string]map[string]string{}}
	_, err = sample.Restrict(ctx, g, p, sample.Lists{Create: w.create, Touched: touched})
	return w.arrays, err
}

// Open is the store with the messages of a valid plan alone, which are written to a new folder. The store must outlive it. Close removes the folder.
func Open(ctx context.Context, fsys vfs.FS, dir string, s *store.Store, p *sample.Plan) (*Store, error) {
	arrays, err := Write(ctx, fsys, dir, s.Graph, p, s.Touched)
	if err != nil {
		return nil, err
	}
	o, err := s.Overlay(dir, arrays)
	if err != nil {
		return nil, errors.Join(err, fsys.RemoveAll(dir))
	}
	return &Store{Store: o, fsys: fsys, dir: dir}, nil
}

// Unname removes the names of the files, which stay mapped until Close, so that a process that is killed leaves none. Executors that open the files by name need
// them.
func (s *Store) Unname() error {
	if s.fsys == nil {
		return nil
	}
	return s.fsys.RemoveAll(s.dir)
}

// Store is a store with messages alone.
type Store struct {
	*store.Store
	fsys vfs.FS
	dir  string
}

// Whole is a store of which all edges are messages. Close does not close it.
func Whole(s *store.Store) *Store { return &Store{Store: s} }

// Close unmaps the messages and removes their files. It may be called on nil.
func (s *Store) Close() error {
	if s == nil || s.fsys == nil {
		return nil
	}
	return errors.Join(s.Store.Close(), s.fsys.RemoveAll(s.dir))
}

// Kept says how many edges of a type are messages, given the store that Open was given.
func Kept(all, some *graph.Graph, edges int) (kept, of int) {
	e := some.Edges[edges]
	return e.Adj[e.Primary].Far.Len(), all.Edges[edges].Count
}

// None is a warning for each edge type that has edges, of which none is a message of a plan, given the stores that Kept is given.
func None(all, some *graph.Graph, p *sample.Plan) (warnings []string) {
	for i, e := range all.Edges {
		of, restricted := p.Messages[e.Type.String()]
		if kept, count := Kept(all, some, i); restricted && kept == 0 && count > 0 {
			warnings = append(warnings, fmt.Sprintf("found no edge of %s with %s, so that none of its edges is a message", e.Type, of))
		}
	}
	return warnings
}

// writer makes lists in files.
type writer struct {
	fsys   vfs.FS
	dir    string
	files  int
	arrays map[string]map[string]string
}

func (w *writer) create(e graph.EdgeType, array string, n int, limit uint64) (sample.List, error) {
	name := fmt.Sprintf("%d.npy", w.files)
	w.files++
	l := &list{descr: "u8", width: 8}
	if sample.Narrow(limit) {
		l.descr, l.width = "u4", 4
	}
	head, err := npy.AppendHeader(nil, l.descr, []int{n})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(w.dir, name)
	if free, err := w.fsys.Free(w.dir); err == nil && int64(n)*int64(l.width) > free {
		return nil, tagged.Errorf(vfs.ErrSpace, "%s: found %s free, expected %s for the messages of %s; make room, or point TMPDIR to a larger disk", w.dir, human.Bytes(free), human.Bytes(int64(n)*int64(l.width)), e)
	}
	if l.sender = vfs.SenderOf(w.fsys, path); l.sender != nil {
		l.path = path
		l.file, err = l.sender.Temp(w.dir)
	} else {
		l.file, err = w.fsys.Create(path)
	}
	if err != nil {
		return nil, err
	}
	l.to = bufio.NewWriterSize(l.file, 1<<18)
	if _, err := l.to.Write(head); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	if w.arrays[e.String()] == nil {
		w.arrays[e.String()] = map[string]string{}
	}
	w.arrays[e.String()][array] = name
	return l, nil
}

// list is an array file that is written.
type list struct {
	file vfs.File
	// sender makes the file of path from file; nil where file has its name.
	sender vfs.Sender
	path   string
	to     *bufio.Writer
	descr  string
	width  int
}

// Append writes values.
func (l *list) Append(values []uint64) error {
	var b [8]byte
	for _, x := range values {
		binary.LittleEndian.PutUint64(b[:], x)
		if _, err := l.to.Write(b[:l.width]); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the file. What it has is read by Overlay.
func (l *list) Close() (graph.Index, error) {
	err := l.to.Flush()
	if err == nil && l.sender != nil {
		err = l.sender.Send(l.path, l.file, true)
	}
	return graph.Index{}, errors.Join(err, l.file.Close())
}
