package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/messages"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Options says how a run is divided.
type Options struct {
	Method Method
	// GroupSeeds is the number of seeds of a group, and WaveSeeds of a wave; 0 chooses.
	GroupSeeds, WaveSeeds int
	// RangeNodes is the number of nodes of a range; 0 chooses.
	RangeNodes int
	// Shards is how many tasks write the output; 0 is one writer, this process (see ChooseShards). ShardBytes is the least size of a shard of an array; 0 chooses.
	Shards     int
	ShardBytes int64
	// Memory is the memory of a worker; 0 is not known. A job whose tasks need more is refused.
	Memory int64
	// Tell, if not nil, is called with the counts of all workers, about twice per second.
	Tell func(Counts)
	// Ship copies the store into the work folder, for workers that cannot reach it.
	Ship bool
	// Shipped, if not nil, is called with the bytes of each part that is copied.
	Shipped func(bytes int)
	// Warn, if not nil, is called with the text of a warning: of an edge type without a message, or of a stage where nothing has happened for a while.
	Warn func(text string)
}

// Run is a run of the submitter. It implements output.Elsewhere.
type Run struct {
	FS      vfs.FS
	Dir     string // the work folder, made by Run
	Engine  stages.Engine
	Sampler *sample.Sampler
	// Work has the store, the plan and the format. Make fills in the job, and how it is divided.
	Work    Work
	Records *output.RecordsOptions // nil for a collection
	Options Options
	// Overwrite lets a run remove the pieces that a run of another Work finished. Without it they are an error. A run of the same Work goes on from
	// its pieces.
	Overwrite bool
}

// Groups are sized so that each worker gets some. Engines such as Flink hold the records of a key in memory. The size of a
// group bounds its records, and waves bound the records of a range.
const (
	groupsPerWorker  = 8
	leastGroupSeeds  = 1 << 12
	mostGroupSeeds   = 1 << 15
	groupBytes       = 32 << 20 // of answers and rows, about
	defaultRange     = 1 << 13
	mostRanges       = 1 << 11
	waveRequestBytes = 64 << 20
	requestBytes     = 4 // about
	answerBytes      = 5 // per edge, about
	mostTasks        = 1 << 13
)

// divide fills in the job and its division.
func (r *Run) divide(job sample.Job) error {
	w, o := &r.Work, &r.Options
	if o.Method == Shuffle {
		if err := r.Sampler.Plan().CanGive(r.Sampler.Graph()); err != nil {
			return err
		}
	}
	w.Format, w.Law, w.Method, w.Shards, w.ShardBytes = workFormat, draw.Version, o.Method, r.Shares(job), o.ShardBytes
	w.BatchSize, w.Seed, w.Epoch, w.Epochs, w.Shuffled, w.Rank, w.Ranks = job.BatchSize, job.Seed, job.Epoch, max(job.Epochs, 1), job.Shuffle, job.Rank, max(job.Ranks, 1)
	w.Batches = job.EpochBatches(r.Sampler.SeedWidth())
	seeds, edges := o.GroupSeeds, uint64(0)
	if w.Method == Shuffle {
		edges = r.meanEdges(&job)
	}
	if seeds == 0 {
		total := w.Batches * uint64(job.BatchSize) * uint64(w.Epochs)
		seeds = int(min(max(total/uint64(groupsPerWorker*max(r.Engine.Workers(), 1)), leastGroupSeeds), mostGroupSeeds))
		if w.Method == Shuffle {
			seeds = int(min(uint64(seeds), max(groupBytes/(edges*(answerBytes+r.rowBytes())+1), 1)))
		}
	}
	w.GroupBatches = uint64(max(seeds/job.BatchSize, 1))
	if w.Method == Local {
		return nil
	}
	w.RangeNodes, w.MostRanges = o.RangeNodes, 1<<40
	if w.RangeNodes == 0 {
		w.RangeNodes, w.MostRanges = defaultRange, mostRanges
	}
	wave := uint64(o.WaveSeeds)
	if wave == 0 {
		wave = waveRequestBytes / (requestBytes * mostNodes(r.Sampler.Plan()))
	}
	w.WaveGroups = max(wave/(w.GroupBatches*uint64(job.BatchSize)), 1)
	bytes := float64(w.Batches) * float64(w.Epochs) * float64(job.BatchSize) * float64(edges) * float64(answerBytes+r.rowBytes())
	w.Share = stages.Tasks(int64(min(bytes, 1<<50)), r.Engine.Workers(), mostTasks)
	if w.Groups() > 1<<31 {
		return fmt.Errorf("found %d groups, expected fewer than 2^31; take larger groups", w.Groups())
	}
	return nil
}

// meanEdges is about the edges that a plan draws per seed, at least 1. What a fanout allows is no measure: many ops along sparse edge types find a
// hundredth of it, and hundreds of tasks would then read hundreds of files each for next to nothing.
func (r *Run) meanEdges(job *sample.Job) uint64 {
	z := sample.Foresee(r.Sampler.Graph(), r.Sampler.Plan(), job)
	drawn := 0.0
	for _, n := range z.Drawn {
		drawn += n
	}
	seeds := max(min(job.BatchSize, len(job.Seeds)/r.Sampler.SeedWidth()), 1)
	return uint64(drawn/float64(seeds)) + 1
}

// mostNodes is the most nodes that an op of a plan expands per seed, or a guess where ops take all edges.
func mostNodes(p *sample.Plan) (nodes uint64) {
	const all, most = 32, 1 << 20 // edges of a node where an op takes all, nodes of a subgraph
	nodes = 1
	if p.Negatives != nil {
		nodes += uint64(p.Negatives.Most())
	}
	found := []uint64{nodes}
	for i := range p.Ops {
		o := &p.Ops[i]
		n := uint64(0)
		for _, f := range o.From {
			n += found[f]
		}
		nodes = min(max(nodes, n), most)
		take := uint64(all)
		if o.Take >= 0 {
			take = uint64(o.Take)
		}
		found = append(found, min(n*take, most))
	}
	return nodes
}

// rowBytes is about the most bytes of the columns of a node and an edge that Examples have.
func (r *Run) rowBytes() uint64 {
	if r.Records == nil {
		return 0
	}
	g, nodes, edges := r.Sampler.Graph(), uint64(0), uint64(0)
	width := func(columns []*graph.Column, count int) (bytes uint64) {
		for _, c := range slices.DeleteFunc(slices.Clone(columns), func(c *graph.Column) bool { return !output.Writes(c) }) {
			bytes += uint64(c.Bytes()) / uint64(max(count, 1))
		}
		return bytes
	}
	for _, n := range g.Nodes {
		nodes = max(nodes, width(n.Columns, n.Count))
	}
	for _, e := range g.Edges {
		edges = max(edges, width(e.Columns, e.Count))
	}
	return nodes + edges
}

// Make implements output.Elsewhere. It leaves the work folder to the caller: until the output has its name, a run continues from it.
func (r *Run) Make(ctx context.Context, job sample.Job, join output.Join) error {
	if err := r.divide(job); err != nil {
		return err
	}
	if r.Work.Batches == 0 {
		return nil
	}
	return r.hold(ctx, &job, func(ctx context.Context, ended chan jobEnd, cancel func(error)) error {
		return r.joinAll(ctx, job.From, ended, cancel, join)
	})
}

// prepare makes the work folder. It keeps the pieces of a run that it continues, if their Work was the same.
func (r *Run) prepare(ctx context.Context, job *sample.Job) error {
	same, differ, err := r.same(job)
	if err != nil {
		return err
	}
	if !same {
		n, err := Pieces(r.FS, r.Dir)
		if err == nil && n > 0 && !r.Overwrite {
			err = workfolder.Kept(n, "pieces", r.Dir, differ)
		}
		if err != nil {
			return err
		}
		if err := workfolder.Clear(r.FS, r.Dir); err != nil {
			return err
		}
		r.Work.ID = workfolder.Unique()
	}
	for _, dir := range []string{filepath.Join(r.Dir, piecesDir(&r.Work)), outputDir(r.Dir, &r.Work), filepath.Dir(writtenFile(r.Dir, &r.Work, 0))} {
		if err := r.FS.MkdirAll(dir); err != nil {
			return err
		}
	}
	if err := workfolder.Reset(r.FS, r.Dir); err != nil {
		return err
	}
	if same {
		return nil
	}
	if plan := r.Sampler.Plan(); len(plan.Messages) > 0 {
		if r.Work.Messages, err = messages.Write(ctx, r.FS, filepath.Join(r.Dir, messagesDir), r.Sampler.Graph(), plan, nil); err != nil {
			return err
		}
	}
	if err := r.Work.save(r.FS, r.Dir, job, r.Records); err != nil {
		return fmt.Errorf("cannot save the work: %w", err)
	}
	return nil
}

// messagesDir is the folder of the edges that are messages in the work folder.
const messagesDir = "messages"

// shippedDir is the folder of the copy of the store in the work folder.
const shippedDir = "store"

// ship copies the store, unless an interrupted run did.
func (r *Run) ship(ctx context.Context, from string) error {
	to := r.Work.Store
	if to == from {
		return nil
	}
	return store.CopyOnce(ctx, r.FS, from, to, r.Work.StoreSum, r.Options.Shipped)
}

// same says whether the folder has the same Work, and else in what they differ. The seeds are the same, because the output is continued.
func (r *Run) same(job *sample.Job) (same bool, differ []string, err error) {
	old, err := earlier(r.FS, r.Dir)
	if old == nil || err != nil {
		return false, []string{"the version"}, err
	}
	w := r.Work
	w.ID, w.Seeds, w.Times, w.Negatives, w.Targets, w.Columns, w.Messages = old.ID, old.Seeds, old.Times, old.Negatives, old.Targets, old.Columns, old.Messages
	if old.Seeds.Len != len(job.Seeds) {
		return false, []string{"seeds"}, nil
	}
	x, err := json.Marshal(&w)
	y, err2 := json.Marshal(old)
	if err := errors.Join(err, err2); err != nil {
		return false, nil, err
	}
	if differ := workfolder.Differences(x, y); !bytes.Equal(x, y) {
		return false, differ, nil
	}
	r.Work = w
	return true, nil, nil
}

// check opens the work as a worker does, so that an error of every worker, and a job that cannot end, are found before the job starts. It returns the stages of the job; nil where all of them are
// whole.
func (r *Run) check(job *sample.Job) (list []stages.Stage, err error) {
	s, err := Open(r.FS, r.Dir)
	if err != nil {
		return nil, err
	}
	if s.whole != nil && r.Options.Warn != nil {
		for _, text := range messages.None(s.whole.Graph, s.store.Graph, s.sampler.Plan()) {
			r.Options.Warn(text)
		}
	}
	if r.Work.Method == Shuffle {
		for _, w := range s.steps.walks {
			if _, cut := s.sampler.Cut(w.edges, w.dir, 0, 0); cut != nil && err == nil {
				err = cut
			}
		}
	}
	list = s.division.Stages
	if whole, unknown := s.division.Whole(len(list) - 1); whole || unknown != nil {
		list, err = nil, errors.Join(err, unknown)
	} else if err == nil {
		if err = r.foresee(s, job); err == nil {
			err = s.division.Prepare()
		}
	}
	return list, errors.Join(err, s.Close())
}

// Pieces is the number of pieces and of whole tasks in a work folder that a run can continue from: 0 where there is no folder, or no whole work
// in it.
func Pieces(fsys vfs.FS, dir string) (int, error) {
	w, err := earlier(fsys, dir)
	if w == nil || err != nil {
		return 0, err
	}
	pieces, err := workfolder.Whole(fsys, filepath.Join(dir, piecesDir(w)))
	if err != nil {
		return 0, err
	}
	tasks, err := stages.Finished(fsys, dir, recordsDir(w))
	return pieces + tasks, err
}

// earlier is the Work in a folder; nil where there is none, or no whole one. A disk that fails is an error.
func earlier(fsys vfs.FS, dir string) (*Work, error) {
	name := filepath.Join(dir, workFile)
	if there, err := vfs.Exists(fsys, name); !there || err != nil {
		return nil, err
	}
	w, err := readWork(fsys, dir)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, err
	} else if err != nil {
		return nil, nil
	}
	return w, nil
}

// dropDamaged removes the pieces from a group on that are damaged, because a machine lost its power. The groups are then sampled again from the start; the other pieces are
// kept.
func (r *Run) dropDamaged(from uint64) error {
	if r.remote() {
		return nil // an object is whole, or not there
	}
	for g := from; g < r.Work.Groups(); g++ {
		name := pieceFile(r.Dir, &r.Work, g)
		f, err := r.FS.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		whole := output.CheckPiece(f, r.Work.Shards == 1) // a task that writes checks what it reads
		if err := f.Close(); err != nil {
			return err
		}
		if whole == nil {
			continue
		}
		if err := errors.Join(workfolder.RemoveAll(r.FS, filepath.Join(r.Dir, recordsDir(&r.Work))), r.FS.Remove(name)); err != nil {
			return err
		}
	}
	return nil
}

// remote says whether the work folder is in an object store.
func (r *Run) remote() bool { return vfs.SenderOf(r.FS, r.Dir) != nil }

// poll is the time between two looks for a piece, and remotePoll in an object store.
const (
	poll       = 20 * time.Millisecond
	remotePoll = time.Second
)

// grace is the time that a job has to end after its last piece.
const grace = 30 * time.Second

// jobEnd is the end of a job.
type jobEnd struct{ err error }

// joinAll joins the pieces in order, as they appear.
func (r *Run) joinAll(ctx context.Context, from uint64, ended chan jobEnd, cancel func(error), join output.Join) (err error) {
	running := true
	defer func() {
		if running {
			cancel(err)
			err = workfolder.Explain(r.FS, r.Dir, errors.Join(err, ignoreCancel((<-ended).err)))
		}
	}()
	told, watch := time.Now(), r.watch()
	beat, pause, remote := workfolder.BeatOf(r.FS, r.Dir), poll, r.remote()
	if remote {
		pause = remotePoll
	}
	removed := r.Work.groupOf(from) // the pieces of groups before it are gone
	for g := r.Work.groupOf(from); g < r.Work.Groups(); {
		joined, saved, err := r.joinPiece(g, join)
		if err != nil {
			return err
		}
		if joined {
			g++
			// A run that goes on after a kill needs the pieces that no checkpoint has. Those of an output in an object store are on this machine: another one needs
			// all pieces.
			for ; !remote && removed < g && saved > 0 && removed < r.Work.groupOf(saved); removed++ {
				if err := r.FS.Remove(pieceFile(r.Dir, &r.Work, removed)); err != nil {
					return err
				}
			}
		}
		if time.Since(told) >= beat {
			told = time.Now()
			watch(g)
			if final, _ := workfolder.Failures(r.FS, r.Dir); len(final) > 0 && running {
				return errors.New(strings.Join(final, "\n"))
			}
		}
		if joined {
			continue
		}
		if !running {
			return fmt.Errorf("found no piece of group %d after the job ended, expected one of %d; look at the logs of the engine", g, r.Work.Groups())
		}
		select {
		case end := <-ended:
			running = false
			if end.err != nil {
				return workfolder.Explain(r.FS, r.Dir, end.err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
	// Every subgraph is there. The job has no more to do than to end, and the way it ends changes nothing.
	if running {
		running = false
		select {
		case <-ended:
		case <-ctx.Done():
			<-ended
		case <-time.After(grace):
			cancel(nil)
			<-ended
		}
	}
	watch(r.Work.Groups())
	return nil
}

// stallTime is the time without any progress after which the user is told. Tests lower it.
var stallTime = time.Minute

// watch returns a function that tells the progress, and where there is none. It takes the number of joined groups.
func (r *Run) watch() func(joined uint64) {
	var last Counts
	lastJoined, since := uint64(0), time.Now()
	return func(joined uint64) {
		c := readCounts(r.FS, r.Dir)
		if r.Options.Tell != nil {
			r.Options.Tell(c)
		}
		if c != last || joined != lastJoined {
			last, lastJoined, since = c, joined, time.Now()
			return
		}
		if quiet := time.Since(since); quiet >= stallTime && r.Options.Warn != nil {
			since = time.Now()
			r.Options.Warn(fmt.Sprintf("no worker has told of progress for %s: %s; look at the pages and logs of the engine, or end the job and give the same command later", quiet.Round(time.Second), r.stage(c, joined)))
		}
	}
}

// stage names the stage that a run is in.
func (r *Run) stage(c Counts, joined uint64) string {
	groups := r.Work.Groups()
	switch {
	case c == Counts{}:
		return "no worker has started"
	case r.Work.Method == Shuffle && c.Started < groups && c.Pieces == 0:
		return fmt.Sprintf("stage start has drawn for %d of %d groups", c.Started, groups)
	case r.Work.Method == Shuffle && c.Answers < c.Requests && c.Pieces == 0:
		return fmt.Sprintf("stage range has drawn for %d of %d nodes", c.Answers, c.Requests)
	}
	if r.Work.Shards > 1 && c.Pieces >= groups {
		return fmt.Sprintf("%d of %d shares of the output are written", min(c.Written, uint64(r.Work.Shards)), r.Work.Shards)
	}
	return fmt.Sprintf("%d of %d pieces are written, and %d are in the output", min(c.Pieces, groups), groups, joined)
}

// joinPiece joins the piece of a group, if it is there. saved is as in output.Join.
func (r *Run) joinPiece(group uint64, join output.Join) (joined bool, saved uint64, err error) {
	f, err := r.FS.Open(pieceFile(r.Dir, &r.Work, group))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, 0, nil
		}
		return false, 0, err
	}
	saved, err = join(f)
	return true, saved, errors.Join(err, f.Close())
}

// ignoreCancel drops the error of a job that was cancelled, because what cancelled it is told.
func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
