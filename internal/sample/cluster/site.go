package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/spec"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/wordmap"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Site is a Work on one machine. It is safe for concurrent use: each goroutine has its own Hand.
type Site struct {
	Dir  string // the work folder
	Work *Work

	fs      vfs.FS
	store   *store.Store
	whole   *store.Store // with messages: the store that has all edges
	job     sample.Job
	sampler *sample.Sampler // with Options.Given, except by the method Local
	pieces  *output.Pieces
	// features are the store's, for TFRecords; nil for none.
	features *widening.Features
	unmaps   []func() error
	steps    steps
	tables   []rowTable // of the stage Rows, none without it
	ranges   rangeCache
	division *stages.Job
	groups   int // the stage that gets the answers of groups
	write    int // the stage that writes the output, after the one that makes the pieces; there is none with one shard

	counts counts
	pulse  *workfolder.Pulse[Counts]

	hands sync.Pool
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
	plan, err := sample.ParsePlan("plan", w.Plan)
	if err != nil {
		return err
	}
	if w.Messages != nil {
		o, err := s.store.Overlay(filepath.Join(s.Dir, messagesDir), w.Messages)
		if err != nil {
			return err
		}
		s.whole, s.store = s.store, o
	}
	if w.Method == Shuffle {
		if err := plan.CanGive(s.store.Graph); err != nil {
			return err
		}
	}
	spec.AddOnes(plan, s.store.Graph)
	if err := s.openJob(); err != nil {
		return err
	}
	if s.sampler, err = sample.New(s.store.Graph, plan, sample.Options{Ops: w.Ops, NoEdgeIDs: w.NoEdgeIDs, Weights: plan.Weighs(), Given: w.Method == Shuffle}); err != nil {
		return err
	}
	if s.job.EpochBatches(s.sampler.SeedWidth()) != w.Batches {
		return fmt.Errorf("%s: found %d batches in the work, expected %d", s.Dir, w.Batches, s.job.EpochBatches(s.sampler.SeedWidth()))
	}
	var columns columnRecorder
	if err := s.openPieces(&columns); err != nil {
		return err
	}
	if w.Method == Shuffle {
		s.plan()
		s.planRows(&columns)
	}
	s.division = &stages.Job{FS: s.fs, Work: s.Dir, Dir: filepath.Join(s.Dir, recordsDir(w)), Stages: s.planStages(), Do: s.do}
	s.pulse = workfolder.StartPulse(s.fs, s.Dir, s.counts.read)
	return nil
}

// openPieces plans the pieces. By the method Shuffle it notes the columns of Examples, and leaves them unread.
func (s *Site) openPieces(columns *columnRecorder) (err error) {
	if s.Work.Records == nil {
		s.pieces, err = output.CollectionPieces(s.sampler, output.CollectionOptions{Ops: s.Work.Ops}, s.job)
		return err
	}
	if s.features, err = widening.Read(s.fs, s.store.Dir); err != nil {
		return err
	}
	opt, err := s.records()
	if err != nil {
		return err
	}
	if s.Work.Method == Shuffle {
		opt.Rows = columns
	}
	if s.pieces, err = output.RecordPieces(s.sampler, opt, s.job); err != nil {
		return err
	}
	s.job = s.pieces.Job()
	if s.job.BatchSize != s.Work.BatchSize {
		return fmt.Errorf("%s: found batches of %d seeds in the work, expected %d; install the same version on all machines", s.Dir, s.Work.BatchSize, s.job.BatchSize)
	}
	return nil
}

// Close frees the Site. No Hand may be in use.
func (s *Site) Close() error {
	s.pulse.Stop()
	if s.sampler != nil {
		s.sampler.Close()
	}
	var errs []error
	for _, f := range s.unmaps {
		errs = append(errs, f())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.whole != nil {
		errs = append(errs, s.whole.Close())
	}
	return errors.Join(errs...)
}

// Graph is the graph of the store.
func (s *Site) graph() *graph.Graph { return s.store.Graph }

// Hand is the buffers of a goroutine that works on a Site. It is not safe for concurrent use.
type Hand struct {
	s       *Site
	batches *sample.Batches
	writer  *output.PieceWriter
	kernel  *sample.Context // makes subgraphs
	draws   *sample.Context // draws for single nodes

	requests requests
	asked    wordmap.Map // op and node, of the last subgraph
	repeats  wordmap.Map // subgraph and node, of a group and op
	group    answers     // of the group that is assembled
	out      answerBuffer
	order    []section
	wanted   []wantedRows
	rows     []uint64
	ends     []uint32 // of the seeds and the negatives of a subgraph
}

// hand takes buffers that are not in use. The caller puts them back.
func (s *Site) hand() (_ *Hand, err error) {
	if h, ok := s.hands.Get().(*Hand); ok {
		return h, nil
	}
	h := &Hand{s: s, kernel: s.sampler.NewContext(), draws: s.sampler.NewContext()}
	if h.batches, err = s.sampler.Batches(&s.job); err != nil {
		return nil, err
	}
	if h.writer, err = s.pieces.NewWriter(); err != nil {
		return nil, err
	}
	h.requests.init(s)
	h.out.s = s
	h.group.init(h)
	return h, nil
}

// Job implements stages.Site.
func (s *Site) Job() *stages.Job { return s.division }

// do is the function of the job: the stages are those of planStages.
func (s *Site) do(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	h, err := s.hand()
	if err != nil {
		return err
	}
	switch {
	case stage == s.write:
		err = s.writeShare(ctx, key)
	case s.Work.Method == Local:
		err = h.sampleGroup(ctx, uint64(key))
	case stage == 0:
		err = h.startGroup(ctx, uint64(key), emit)
	case stage < s.groups:
		err = h.drawRange(ctx, stage, key, records, emit)
	case stage == s.write-1:
		err = h.assembleGroup(ctx, key, records)
	case stage == s.groups:
		err = h.wantGroup(ctx, key, records, emit)
	default:
		err = h.giveRows(ctx, records, emit)
	}
	if err == nil && stage == s.write-1 && (key == 0 || key == groupKey(0)) {
		s.callWriters(emit)
	}
	if err == nil { // else the buffers may hold half of a record
		s.hands.Put(h)
	}
	return err
}

// sampleGroup makes the piece of a group with the whole store (Local).
func (h *Hand) sampleGroup(ctx context.Context, group uint64) error {
	return h.piece(ctx, h.writer, group, func(in sample.Input, _ uint32) (*sample.Subgraph, error) { return h.kernel.Sample(in) }, func() error { return nil })
}

// piece writes the piece of a group, if it is not there. take makes the subgraph with a number in the group, and check
// says whether all were encoded.
func (h *Hand) piece(ctx context.Context, writer *output.PieceWriter, group uint64, take func(in sample.Input, sub uint32) (*sample.Subgraph, error), check func() error) (err error) {
	s := h.s
	name := pieceFile(s.Dir, s.Work, group)
	if made, err := vfs.Exists(s.fs, name); made || err != nil {
		return err // made by an earlier call
	}
	first, n := s.Work.Group(group)
	sub := uint32(0)
	write := func(f vfs.File) error {
		return writer.Write(ctx, f, first, n, func(b *sample.Batch, i int) (*sample.Subgraph, error) {
			g, err := take(s.sampler.Input(b, s.job.Seed, i), sub)
			sub++
			if g != nil {
				s.counts.edges.Add(g.Drawn)
			}
			return g, err
		})
	}
	if err := vfs.WriteWhole(s.fs, name, func(f vfs.File) error {
		if err := guard.Do(func() error { return write(f) }); err != nil {
			return err
		}
		return check()
	}); err != nil {
		return err
	}
	s.counts.pieces.Add(1)
	s.counts.subgraphs.Add(uint64(sub))
	return nil
}

// pieceFile is the file of the piece of a group.
func pieceFile(dir string, w *Work, group uint64) string {
	return filepath.Join(dir, piecesDir(w), fmt.Sprintf("%08d", group))
}

// piecesDir is the folder of the pieces in the work folder. It has the name of the Work, so that workers of a job that
// still runs for another Work do not write there.
func piecesDir(w *Work) string { return "pieces-" + w.ID }

// recordsDir is the folder of the records between the stages, in the same way.
func recordsDir(w *Work) string { return "records-" + w.ID }
