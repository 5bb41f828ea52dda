package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Run is a run of the submitter. It implements partition.Divider.
type Run struct {
	FS     vfs.FS
	Dir    string // the work folder, made by Divide
	Engine stages.Engine
	Store  *store.Store
	// Work has the version and the store. Divide fills in the rest.
	Work Work
	// Overwrite lets a run remove what a run of another Work finished. Without it that is an error. A run of the same Work goes on from there.
	Overwrite bool
	// Ship copies the store into the work folder, for workers that cannot reach it. Shipped, if not nil, is called with the
	// bytes of each part that is copied.
	Ship    bool
	Shipped func(bytes int)
	// Stalled, if not nil, is called with a text where nothing has happened for a while, or where the disk is small.
	Stalled func(text string)
	// Tell, if not nil, is called with the progress of a phase, about twice per second.
	Tell func(phase string, done, total int64)

	messages *messages
	plan     *ranges.Plan
	state    state
	stats    ranges.Stats
	measured int // divisions
	release  func() error
}

// Piece sizes: a task that lists one holds its edges, 8 bytes for each end.
const (
	pieceBytes = 64 << 20
	endBytes   = 16
)

// Divide implements partition.Divider.
func (r *Run) Divide(ctx context.Context, of partition.Division) (rows *undirected.Spilled, part []uint16, stats *ranges.Stats, err error) {
	if r.release, err = workfolder.Hold(r.FS, r.Dir); err != nil {
		return nil, nil, nil, err
	}
	for _, p := range phases() {
		if err := r.Engine.Free(ctx, r.phaseDir(p)); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := stages.Begin(r.FS, r.Dir); err != nil {
		return nil, nil, nil, err
	}
	if r.Ship {
		from := r.Work.Store
		r.Work.Store = filepath.Join(r.Dir, shippedDir)
		if err := r.FS.MkdirAll(r.Dir); err != nil {
			return nil, nil, nil, err
		}
		if err := store.CopyOnce(ctx, r.FS, from, r.Work.Store, r.Work.StoreSum, r.Shipped); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := r.prepare(of); err != nil {
		return nil, nil, nil, err
	}
	if err := r.phase(ctx, listPhase); err != nil {
		return nil, nil, nil, err
	}
	l, err := r.Work.readListed(ctx, r.messages, r.Dir, r.plan.Split(r.Work.Pieces))
	if err != nil {
		return nil, nil, nil, err
	}
	if rows, err = undirected.OpenPieces(r.FS, l.pieces); err != nil {
		return nil, nil, nil, err
	}
	best, err := r.divide(ctx, &l)
	if err != nil {
		return nil, nil, nil, errors.Join(err, rows.Close())
	}
	r.stats.Cut = best.Cut
	r.stats.Passes /= float64(max(l.entries, 1))
	return rows, best.Part, &r.stats, nil
}

// divide runs the phases after the list.
func (r *Run) divide(ctx context.Context, l *listed) (*ranges.Best, error) {
	best := ranges.NewBest()
	if r.plan.Nodes == 0 || r.plan.Parts == 1 {
		best.Part, best.Cut = make([]uint16, r.plan.Nodes), 0
		r.stats.CoreNodes, r.stats.CorePairs = r.plan.Nodes, l.entries/2
		return best, nil
	}
	if !r.plan.OwnCore(l.entries, r.Work.Whole) {
		for pass := range ranges.ClusterPasses {
			if err := r.phase(ctx, clusterPhase(pass)); err != nil {
				return nil, err
			}
		}
		for n := range joinRounds {
			if err := r.read(ctx, joinsName(n)); err != nil {
				return nil, err
			}
		}
	}
	if err := r.phase(ctx, corePhase); err != nil {
		return nil, err
	}
	told, err := r.messages.readCore()
	if err != nil {
		return nil, err
	}
	x, err := r.messages.read(coreName, 0)
	if err != nil {
		return nil, err
	}
	r.stats.CoreNodes, r.stats.CorePairs, r.stats.OutOfCore, r.stats.Contracted = told.Clusters, told.Pairs, told.OutOfCore, x.sent
	r.count(x)
	if err := r.refine(ctx, best, false, told.Cut); err != nil {
		return nil, err
	}
	if r.plan.Constraints > 1 {
		return best, nil
	}
	if _, ok := r.plan.Fill(l.degrees, 0); !ok {
		return best, nil
	}
	if err := r.phase(ctx, fillPhase); err != nil {
		return nil, err
	}
	cut, err := r.sum(ctx, cutName)
	if err != nil || best.Hopeless(cut) {
		return best, err
	}
	before := *best
	if err := r.refine(ctx, best, true, cut); err != nil {
		return nil, err
	}
	r.stats.ByDegree = best.Beats(&before)
	return best, nil
}

// Measure implements partition.Divider.
func (r *Run) Measure(ctx context.Context, p *partition.Pieces) (sum *partition.Measures, err error) {
	pass := r.measured
	r.measured++
	if err := r.messages.write(givenName(pass), 0, message{body: graph.Bytes(p.Piece)}); err != nil {
		return nil, err
	}
	if err := r.phase(ctx, measureName(pass)); err != nil {
		return nil, err
	}
	err = r.messages.each(ctx, measureName(pass), r.Work.Pieces, func(x message) error {
		m, err := readMeasures(x.body, p.Parts, p.Trainers, len(r.Store.Graph.Edges))
		switch {
		case err != nil:
		case sum == nil:
			sum = m
		default:
			sum.Add(m)
		}
		return err
	})
	return sum, err
}

// refine refines a start with a cut, and keeps the best division.
func (r *Run) refine(ctx context.Context, best *ranges.Best, again bool, cut int64) error {
	at := (&step{again: again}).moment()
	if err := r.state.advance(ctx, at); err != nil {
		return err
	}
	best.Keep(r.state.d, cut)
	for pass := range ranges.Refinement() {
		if err := r.phase(ctx, refinePhase(again, pass)); err != nil {
			return err
		}
		for round := range ranges.Rounds {
			gain, err := r.sum(ctx, wantName(again, pass, round))
			if err != nil {
				return err
			}
			cut -= gain
			if err := r.read(ctx, moveName(again, pass, round)); err != nil {
				return err
			}
		}
		gain, err := r.sum(ctx, countName(again, pass))
		if err != nil {
			return err
		}
		cut -= gain
		at.rounds = (pass + 1) * ranges.Rounds
		if err := r.state.advance(ctx, at); err != nil {
			return err
		}
		best.Keep(r.state.d, cut)
		if best.Hopeless(cut) && pass > 0 {
			break
		}
	}
	return nil
}

// count counts a message in the statistics.
func (r *Run) count(x message) {
	r.stats.Passes += float64(x.read)
	r.stats.Sent += x.sent
	r.stats.Received += int64(len(x.body))
}

// read reads the messages of a stage for the statistics.
func (r *Run) read(ctx context.Context, stage string) error {
	return r.messages.each(ctx, stage, r.Work.Ranges, func(x message) error {
		r.count(x)
		return nil
	})
}

// sum adds up the numbers with which the messages of a stage begin.
func (r *Run) sum(ctx context.Context, stage string) (sum int64, err error) {
	err = r.messages.each(ctx, stage, r.Work.Ranges, func(x message) error {
		r.count(x)
		n, _, err := numberOf(x.body)
		sum += n
		return err
	})
	return sum, err
}

func (r *Run) phaseDir(p *phase) string { return filepath.Join(r.Dir, p.name) }

// prepare makes the work folder. It keeps what a run of the same Work left.
func (r *Run) prepare(of partition.Division) error {
	w := &r.Work
	w.Format, w.Parts, w.Trainers, w.Imbalance, w.Balance, w.Seed, w.Preset, w.Whole, w.Memory = workFormat, of.Parts, max(1, of.Trainers), of.Imbalance, of.Balance, of.Seed, of.Preset, of.Whole, of.Memory
	var weights []uint32
	var err error
	if r.plan, weights, err = w.plan(r.Store); err != nil {
		return err
	}
	if err := r.Store.Release(); err != nil {
		return err
	}
	edges := int64(0)
	for _, e := range r.Store.Graph.Edges {
		edges += int64(e.Count)
	}
	blocks := max(r.plan.Blocks(), 1)
	w.Ranges = min(max(r.Engine.Workers(), 1), blocks, mostTasks)
	w.Pieces = min(max(w.Ranges, int(endBytes*edges/pieceBytes)), blocks, mostTasks)
	same, differ, err := r.same()
	if err != nil {
		return err
	}
	if !same {
		n, err := Finished(r.FS, r.Dir)
		if err == nil && n > 0 && !r.Overwrite {
			err = workfolder.Kept(n, "tasks", r.Dir, differ)
		}
		if err != nil {
			return err
		}
		w.ID = workfolder.Unique()
		if err := workfolder.Clear(r.FS, r.Dir, shippedDir); err != nil {
			return err
		}
		if err := r.foresee(edges); err != nil {
			return err
		}
		made := []error{r.FS.MkdirAll(filepath.Join(r.Dir, w.rowsDir())), r.FS.MkdirAll(filepath.Join(r.Dir, w.messagesDir(), startName))}
		for pass := range partition.MostMeasures {
			made = append(made, r.FS.MkdirAll(filepath.Join(r.Dir, w.messagesDir(), givenName(pass))))
		}
		if err := errors.Join(made...); err != nil {
			return err
		}
		if err := w.save(r.FS, r.Dir); err != nil {
			return fmt.Errorf("cannot save the work: %w", err)
		}
	}
	r.messages = &messages{r.FS, filepath.Join(r.Dir, w.messagesDir())}
	r.state = state{w: w, plan: r.plan, all: r.messages, weights: weights}
	return nil
}

// same says whether the folder has the same Work, and else in what they differ. Ranges and pieces are those of the earlier run.
func (r *Run) same() (same bool, differ []string, err error) {
	if there, err := vfs.Exists(r.FS, filepath.Join(r.Dir, workFile)); !there || err != nil {
		return false, nil, err
	}
	old, err := readWork(r.FS, r.Dir)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return false, nil, err
	} else if err != nil { // no whole work
		return false, []string{"the version"}, nil
	}
	w := r.Work
	w.ID, w.Ranges, w.Pieces = old.ID, old.Ranges, old.Pieces
	x, err := json.Marshal(&w)
	y, err2 := json.Marshal(old)
	if err := errors.Join(err, err2); err != nil {
		return false, nil, err
	}
	if string(x) != string(y) {
		return false, workfolder.Differences(x, y), nil
	}
	r.Work = w
	return true, nil, nil
}

// Finished is the number of whole tasks in a work folder, of this run and of earlier ones.
func Finished(fsys vfs.FS, dir string) (n int, err error) {
	for _, p := range phases() {
		phase := filepath.Join(dir, p.name)
		entries, unknown := fsys.ReadDir(phase)
		if errors.Is(unknown, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, unknown)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), recordsPrefix) {
				tasks, unknown := stages.Finished(fsys, phase, e.Name())
				n, err = n+tasks, errors.Join(err, unknown)
			}
		}
	}
	return n, err
}

// Bytes on the disk: of the record of an edge while the neighbours are listed, of a pair in the rows of both ends, and of a node in its row, its start and messages.
const (
	mirrorBytes = 10
	pairBytes   = 8
	nodeBytes   = 24
)

// foresee refuses a run that cannot end.
func (r *Run) foresee(edges int64) error {
	need := stages.Need{Records: mirrorBytes * edges, Pieces: pairBytes*edges + nodeBytes*int64(r.plan.Nodes), Divide: "divide the graph by the method hash or random, which look at no edges"}
	memory := int64(0)
	if r.Work.Memory > 0 {
		memory = r.Work.Memory + limits.ProcessBytes
		need.Memory = limits.ProcessBytes + ranges.Least(int64(r.plan.Nodes), r.plan.Constraints, r.plan.Parts)
	}
	if err := r.FS.MkdirAll(r.Dir); err != nil {
		return err
	}
	list := r.Work.stages(phaseOf(listPhase))
	warning, err := stages.Foresee(r.FS, []string{r.Dir}, list, need, memory)
	if warning != "" && r.Stalled != nil {
		r.Stalled(warning)
	}
	return err
}

// phase runs a phase, unless it is whole.
func (r *Run) phase(ctx context.Context, name string) error {
	p := phaseOf(name)
	dir := r.phaseDir(p)
	r.stats.Barriers += len(p.steps)
	whole, err := r.ready(p)
	if whole || err != nil {
		return err
	}
	s, err := Open(r.FS, dir) // as a worker does, so that an error of every worker is found before the job starts
	if err != nil {
		return err
	}
	list := s.job.Stages
	if err := errors.Join(s.job.Prepare(), s.Close()); err != nil {
		return err
	}
	return stages.RunJob(ctx, r.Engine, r.FS, dir, list, r.watch(p, dir, list))
}

// ready makes the folders of a phase, and says whether it is whole.
func (r *Run) ready(p *phase) (whole bool, err error) {
	dir := r.phaseDir(p)
	list := r.Work.stages(p)
	j := &stages.Job{FS: r.FS, Dir: filepath.Join(dir, r.Work.recordsDir()), Stages: list}
	if whole, err := j.Whole(len(list) - 1); whole || err != nil {
		return whole, err
	}
	errs := []error{r.FS.MkdirAll(dir), workfolder.Reset(r.FS, dir)}
	for i := range p.steps {
		errs = append(errs, r.FS.MkdirAll(filepath.Join(r.messages.dir, p.steps[i].name)))
	}
	return false, errors.Join(errs...)
}

// The user is told when nothing has happened for stallTime. Tests lower it.
var stallTime = time.Minute

// watch returns a function that tells the progress, and where there is none.
func (r *Run) watch(p *phase, dir string, list []stages.Stage) func() {
	var last Counts
	total := int64(0)
	for _, s := range list {
		total += s.Tasks
	}
	since := time.Now()
	return func() {
		var all Counts
		workfolder.Pulses(r.FS, dir, func(c Counts) { all.Tasks += c.Tasks })
		if r.Tell != nil {
			r.Tell(p.title, min(int64(all.Tasks), total), total)
		}
		if all != last {
			last, since = all, time.Now()
			return
		}
		if quiet := time.Since(since); quiet >= stallTime && r.Stalled != nil {
			since = time.Now()
			r.Stalled(fmt.Sprintf("no worker has told of progress for %s: %d of %d tasks of %q are done; look at the pages and logs of the engine, or end the job and give the same command later",
				quiet.Round(time.Second), all.Tasks, total, p.title))
		}
	}
}

// End removes the work folder after the output was published, or err is why it was not. After an error it keeps what a run can continue from, and the folder of a job that may still
// run, and says so.
func (r *Run) End(err error) (kept bool, ended error) {
	if r.release == nil { // another run has the folder, or none was made
		return false, nil
	}
	defer func() { ended = errors.Join(ended, r.release()) }()
	if err != nil {
		n, unknown := Finished(r.FS, r.Dir)
		for _, p := range phases() {
			busy, failed := workfolder.Busy(r.FS, r.phaseDir(p))
			if unknown = errors.Join(unknown, failed); busy {
				n++
			}
		}
		if n > 0 || unknown != nil {
			return n > 0, unknown
		}
	}
	if err == nil {
		if err := stages.End(r.FS, r.Dir); err != nil {
			return false, err
		}
	}
	return false, workfolder.RemoveAll(r.FS, r.Dir)
}
