package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Site is a Work on one machine. It is safe for concurrent use.
type Site struct {
	Dir  string // the work folder
	Work *Work

	fs     vfs.FS
	source *ingest.Source
	close  func() error // of the source, if the Site opened it
	share  *assemble.Share
	stages []stage
	job    *stages.Job
	keys   keys

	mu     sync.Mutex // guards what is read from files of other workers
	placed bool
	added  []uint64 // nodes that only edges name, by type
	pieces *assemble.Pieces
	firsts [][]firsts // by type and task, of types to which edges add nodes
	bases  [][]uint64 // by edge type of the store: the edges before each range, and all
}

// Open opens the Work of a folder. The caller closes it.
func Open(ctx context.Context, fsys vfs.FS, dir string) (_ *Site, err error) {
	defer guard.Catch(&err)()
	w, err := readWork(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, f := range w.Files {
		info, err := fsys.Stat(f.Path)
		if err != nil {
			return nil, fmt.Errorf("a worker cannot read the source: %w; put it on storage that all workers reach at this path", err)
		}
		if info.Size() != f.Size {
			return nil, fmt.Errorf("%s: found %d bytes, expected %d, as on the submitter; use the same files on all machines", f.Path, info.Size(), f.Size)
		}
	}
	options := w.Options
	options.Temp = dir
	src, err := ingest.Open(ctx, fsys, w.Source, options)
	if err != nil {
		return nil, err
	}
	texts := make([][]string, len(w.Categories))
	for i, list := range w.Categories {
		for _, s := range list {
			texts[i] = append(texts[i], string(s))
		}
	}
	if err := src.SetCollected(texts); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	s, err := newSite(fsys, dir, w, src)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	s.close = src.Close
	return s, nil
}

func newSite(fsys vfs.FS, dir string, w *Work, src *ingest.Source) (*Site, error) {
	s := &Site{Dir: dir, Work: w, fs: fsys, source: src, keys: w.keys(), bases: make([][]uint64, len(w.Ranges))}
	var err error
	if s.share, err = s.newShare(); err != nil {
		return nil, err
	}
	s.stages = w.stages(s.share)
	s.job = &stages.Job{FS: fsys, Work: dir, Dir: filepath.Join(dir, recordsDir), Do: s.do}
	for i, x := range s.stages {
		stage := stages.Stage{Name: x.name(w.Job), Tasks: w.Share}
		switch {
		case i == 0:
			stage.Tasks = w.firstTasks()
		case x == writeStage:
			stage.Tasks = int64(w.Shards)
		}
		for _, from := range x.reads() {
			if at := s.at(from); at >= 0 {
				stage.Inputs = append(stage.Inputs, stages.Input{From: at, For: i})
			}
		}
		s.job.Stages = append(s.job.Stages, stage)
	}
	return s, nil
}

// newShare is a Share of the numbers of the Work.
func (s *Site) newShare() (*assemble.Share, error) {
	share, err := assemble.NewShare(s.fs, s.Dir, s.source.Input, s.Work.Rules.options())
	if err != nil || s.Work.Numbers == nil {
		return share, err
	}
	return share, share.Know(s.Work.Numbers)
}

// placedShare is another Share, with all nodes and edges at their places. s must have places.
func (s *Site) placedShare(ctx context.Context) (*assemble.Share, error) {
	share, err := s.newShare()
	if err != nil {
		return nil, err
	}
	return share, share.Place(ctx, s.added)
}

// Close frees the Site.
func (s *Site) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// at is the number of a stage; -1 where the job lacks it.
func (s *Site) at(x stage) int { return slices.Index(s.stages, x) }

// Job implements stages.Site.
func (s *Site) Job() *stages.Job { return s.job }

// do runs the function of a stage for a key: stage 0 for the number of a task, without records; the others for a key that
// the stage before emitted, with its records, in any order. The last stage emits nothing.
func (s *Site) do(ctx context.Context, n int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	switch s.Work.Job {
	case Measure:
		return s.measure(ctx, key)
	case Look:
		return s.look(ctx, key)
	}
	switch s.stages[n] {
	case scanStage:
		return s.scan(ctx, key, emit)
	case matchStage:
		return s.match(ctx, key, records, emit)
	case numberStage:
		return s.number(ctx, key, records)
	case edgesStage:
		return s.makeEdges(ctx, key, records, emit)
	case sortStage:
		return s.sort(ctx, key, records, emit)
	case otherStage:
		return s.sortOther(ctx, key, records)
	default:
		return s.writeShare(ctx, key)
	}
}

// task is the task of a key.
func (s *Site) task(key int64) (*Task, error) {
	if key < 0 || key >= int64(len(s.Work.Tasks)) {
		return nil, fmt.Errorf("found task %d, expected less than %d; use the same version on all machines", key, len(s.Work.Tasks))
	}
	return &s.Work.Tasks[key], nil
}

// folders are the folders of the files of a Work.
func (s *Site) folders() []string {
	list := []string{"nodes", "ends", "stats", "index", "ranges", "others", "firsts", "texts", "sums", "output"}
	for t := range s.Work.Top {
		list = append(list, filepath.Join("firsts", fmt.Sprint(t)), filepath.Join("texts", fmt.Sprint(t)))
	}
	return list
}
