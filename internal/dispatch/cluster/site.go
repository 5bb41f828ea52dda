package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Site is a Work on one machine. It is safe for concurrent use.
type Site struct {
	Dir  string // the work folder
	Work *Work

	fs      vfs.FS
	store   *store.Store
	maker   *dispatch.Maker
	unmaps  []func() error
	cutters sync.Pool
	job     *stages.Job
	cut     atomic.Uint64
	done    atomic.Uint64
	pulse   *workfolder.Pulse[Counts]
}

// Counts is the work that all workers have done. An engine may call a function again, so they are bounds.
type Counts struct {
	Cut      uint64 `json:"cut"`      // segments
	Finished uint64 `json:"finished"` // parts
}

// Open opens the Work of a folder. The caller closes it.
func Open(fsys vfs.FS, dir string) (*Site, error) {
	s := &Site{fs: fsys, Dir: dir}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Site) open() (err error) {
	defer guard.Catch(&err)()
	if s.Work, err = readWork(s.fs, s.Dir); err != nil {
		return err
	}
	w := s.Work
	if s.store, err = store.OpenSame(s.fs, w.Store, w.StoreSum); err != nil {
		return err
	}
	a, l := s.assignment(), &dispatch.Places{Segments: w.Segments}
	var errs [7]error
	a.Part, errs[0] = mapArray[uint16](s.fs, s.Dir, partArray, &s.unmaps)
	a.Trainer, errs[1] = mapArray[uint16](s.fs, s.Dir, trainerArray, &s.unmaps)
	l.ID, errs[2] = mapArray[uint32](s.fs, s.Dir, idArray, &s.unmaps)
	l.Start, errs[3] = mapArray[uint32](s.fs, s.Dir, startArray, &s.unmaps)
	l.EdgeStart, errs[4] = mapArray[uint64](s.fs, s.Dir, edgeStartArray, &s.unmaps)
	l.Nodes, errs[5] = mapArray[uint32](s.fs, s.Dir, nodesArray, &s.unmaps)
	l.Counts, errs[6] = mapArray[uint64](s.fs, s.Dir, countsArray, &s.unmaps)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if s.maker, err = dispatch.NewMaker(s.fs, s.store, a, l, w.options(), filepath.Join(s.Dir, w.Lists)); err != nil {
		return fmt.Errorf("%s: %w", s.Dir, err)
	}
	parts := int64(w.Parts)
	s.job = &stages.Job{FS: s.fs, Work: s.Dir, Dir: filepath.Join(s.Dir, w.recordsDir()), Do: s.do, Stages: []stages.Stage{
		{Name: "cut", Tasks: int64(w.steps())}, {Name: "gather", Tasks: parts, Inputs: []stages.Input{{From: 0, For: 1}}}, {Name: "finish", Tasks: parts, Inputs: []stages.Input{{From: 1, For: 2}}}}}
	s.pulse = workfolder.StartPulse(s.fs, s.Dir, func() Counts { return Counts{s.cut.Load(), s.done.Load()} })
	return nil
}

// assignment is the assignment of the Work, without its arrays.
func (s *Site) assignment() *assign.Assignment {
	a := &assign.Assignment{Parts: s.Work.Parts, Trainers: s.Work.Trainers, Method: s.Work.Method, Start: []uint64{0}}
	for t, n := range s.store.Graph.Nodes {
		a.Types, a.Start = append(a.Types, n.Type), append(a.Start, a.Start[t]+uint64(n.Count))
	}
	return a
}

// Close frees the Site. No function may run.
func (s *Site) Close() error {
	s.pulse.Stop()
	var errs []error
	if s.maker != nil {
		errs = append(errs, s.maker.Close())
	}
	for _, f := range s.unmaps {
		errs = append(errs, f())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}

// Job implements stages.Site.
func (s *Site) Job() *stages.Job { return s.job }

// do is the function of the job: the keys of cut are segments, the others are parts.
func (s *Site) do(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	switch {
	case stage == 0:
		return s.cutSegment(ctx, int(key), emit)
	case key < 0 || key >= int64(s.Work.Parts):
		return fmt.Errorf("found part %d, expected less than %d; use the same version on all machines", key, s.Work.Parts)
	case stage == 1:
		emit(2, key, nil)
		return s.gatherPart(ctx, int(key), records)
	default:
		return s.finishPart(ctx, int(key))
	}
}

// cutSegment gives the records of a segment, a number below Work.steps.
func (s *Site) cutSegment(ctx context.Context, step int, emit stages.Emit) error {
	// Each part has a record, so that it is made where it has no node.
	for p := step; p < s.Work.Parts; p += s.Work.steps() {
		emit(1, int64(p), nil)
	}
	if len(s.Work.Segments) == 0 {
		return nil
	}
	c, ok := s.cutters.Get().(*dispatch.Cutter)
	if !ok {
		c = s.maker.NewCutter()
	}
	err := c.Cut(ctx, step, func(p int, b []byte) { emit(1, int64(p), b) })
	if err == nil {
		s.cutters.Put(c) // after a fault under a map it holds anything
		s.cut.Add(1)
	}
	return err
}

// gatherPart writes what a part owns, from all of its records.
func (s *Site) gatherPart(ctx context.Context, part int, records func() ([]byte, bool)) (err error) {
	parts := filepath.Join(s.Dir, s.Work.partsDir())
	name := filepath.Join(parts, dispatch.Folder(part))
	if made, err := vfs.Exists(s.fs, filepath.Join(name, dispatch.GatheredLast)); made || err != nil {
		return err // made by an earlier call
	}
	if vfs.SenderOf(s.fs, name) != nil {
		return s.maker.Gather(ctx, part, parts, records)
	}
	temp := s.temp()
	defer func() { err = errors.Join(err, s.fs.RemoveAll(temp)) }()
	if err := s.maker.Gather(ctx, part, temp, records); err != nil {
		return err
	}
	if err := s.fs.Rename(filepath.Join(temp, dispatch.Folder(part)), name); err != nil {
		if _, made := s.fs.Stat(name); made == nil {
			return nil // by a call at the same time
		}
		return err
	}
	return s.fs.SyncDir(parts)
}

// finishPart writes the graph of a part, and the checksums of its files. All parts are gathered.
func (s *Site) finishPart(ctx context.Context, part int) error {
	name := s.Work.sumsFile(s.Dir, part)
	if made, err := vfs.Exists(s.fs, name); made || err != nil {
		return err // made by an earlier call
	}
	if err := s.makeGraph(ctx, part); err != nil {
		return err
	}
	opt := s.Work.options()
	m, err := store.SumFiles(ctx, s.fs, filepath.Join(s.Dir, s.Work.partsDir()), opt.PartFiles(part), 1)
	if err != nil {
		return err
	}
	if err := workfolder.WriteJSON(s.fs, name, m.Files); err != nil {
		return err
	}
	s.done.Add(1)
	return nil
}

// makeGraph writes the graph of a part, if it is not there.
func (s *Site) makeGraph(ctx context.Context, part int) (err error) {
	name := s.Work.graphFile(s.Dir, part)
	if made, err := vfs.Exists(s.fs, name); made || err != nil {
		return err // made by an earlier call
	}
	parts := filepath.Join(s.Dir, s.Work.partsDir())
	if vfs.SenderOf(s.fs, name) != nil {
		return s.maker.Finish(ctx, part, parts, parts)
	}
	temp := s.temp()
	defer func() { err = errors.Join(err, s.fs.RemoveAll(temp)) }()
	if err := s.maker.Finish(ctx, part, parts, temp); err != nil {
		return err
	}
	if err := s.fs.Rename(filepath.Join(temp, dispatch.Folder(part), dispatch.GraphFile), name); err != nil {
		return err
	}
	return s.fs.SyncDir(filepath.Dir(name))
}

// sumsFile is the file with the checksums of the files of a part.
func (w *Work) sumsFile(dir string, part int) string {
	return filepath.Join(dir, w.sumsDir(), fmt.Sprintf("%08d", part))
}

// temp is a folder that no other call has.
func (s *Site) temp() string { return filepath.Join(s.Dir, makingDir, workfolder.Unique()) }

// graphFile is the file of a part that is made last.
func (w *Work) graphFile(dir string, part int) string {
	return filepath.Join(dir, w.partsDir(), dispatch.Folder(part), dispatch.GraphFile)
}
