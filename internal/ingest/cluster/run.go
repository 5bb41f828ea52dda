package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// ErrUnsupported is the kind of errors about sources and options that a cluster cannot import.
var ErrUnsupported = errors.New("not on a cluster")

// Run is an import of the submitter.
type Run struct {
	FS     vfs.FS
	Dir    string // the work folder, made by Run
	Engine stages.Engine
	Source *ingest.Source
	// Work has the source and the rules. Build fills in the rest.
	Work Work
	// PartBytes is about the bytes of a part of a table, BucketBytes the bytes of the keys in a bucket, and RangeBytes the bytes of
	// the edges of a range; 0 chooses. Local is the most bytes of tables that the submitter reads itself to count rows and
	// to look at ids; 0 chooses, and a negative number is none.
	PartBytes, BucketBytes, RangeBytes, Local int64
	// Shards is how many tasks write the store, and the most shards of an array; 0 chooses by the size of the source. ShardBytes is the least
	// size of a shard; 0 chooses.
	Shards     int
	ShardBytes int64
	// Overwrite lets a run remove the pieces that a run of another Work finished. Without it they are an error. A run of the same Work goes on from
	// its pieces.
	Overwrite bool
	// Progress, if not nil, is called with the name of a step, and how much of it was done.
	Progress func(stage string, done, total int64, unit string)
	// Warn, if not nil, is called with the text of a warning.
	Warn func(text string)

	useless bool         // the source breaks a rule, so that no run can continue from the pieces
	release func() error // of the work folder, after begin
}

const (
	defaultPart   = 16 << 20
	defaultBucket = 32 << 20
	defaultRange  = 24 << 20
	defaultLocal  = 128 << 20
	mostTop       = 13 // bits
	bytesPerShare = 256 << 20
	mostShares    = 1 << 12
)

// Check refuses what a cluster cannot import.
func Check(src *ingest.Source, r *Rules) error {
	switch {
	case src.Collection != nil:
		return tagged.Errorf(ErrUnsupported, "found a source of many graphs, expected one graph; use graphmill import")
	case r.DuplicateNodes != assemble.Error:
		return tagged.Errorf(ErrUnsupported, "found `DuplicateNodes` drop, expected error on a cluster; use graphmill import")
	}
	return nil
}

// Build makes a store from the source on the workers of the engine.
//
// The caller calls End.
func (r *Run) Build(ctx context.Context, w *store.Writer) (*assemble.Result, error) {
	r.defaults()
	if err := Check(r.Source, &r.Work.Rules); err != nil {
		return nil, err
	}
	for _, f := range r.Source.Files {
		info, err := r.FS.Stat(f)
		if err != nil {
			return nil, err
		}
		if f, err = vfs.Abs(f); err != nil {
			return nil, err
		}
		r.Work.Files = append(r.Work.Files, File{f, info.Size()})
	}
	for _, texts := range r.Source.Collected() {
		list := make([][]byte, len(texts))
		for i, s := range texts {
			list[i] = []byte(s)
		}
		r.Work.Categories = append(r.Work.Categories, list)
	}
	share, err := assemble.NewShare(r.FS, w.Dir(), r.Source.Input, r.Work.Rules.options())
	if err != nil {
		return nil, err
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.check(share); err != nil {
		return nil, err
	}
	if err := r.divide(ctx, share); err != nil {
		return nil, err
	}
	if err := r.lookAtIDs(ctx, share); err != nil {
		return nil, err
	}
	if err := share.Know(r.Work.Numbers); err != nil {
		return nil, err
	}
	if err := r.plan(share); err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.join(ctx, w)
}

func (r *Run) defaults() {
	for _, x := range []struct {
		v *int64
		d int64
	}{{&r.PartBytes, defaultPart}, {&r.BucketBytes, defaultBucket}, {&r.RangeBytes, defaultRange}, {&r.Local, defaultLocal}} {
		if *x.v == 0 {
			*x.v = x.d
		}
	}
}

// check refuses a count of nodes that follows from edges which must be joined first.
func (r *Run) check(s *assemble.Share) error {
	for k := range s.Parts() {
		src, dst := s.Ends(k)
		for _, t := range [][2]int{{src, dst}, {dst, src}} {
			if s.Unknown(t[0]) && (s.Keyed(t[1]) || s.Compares(t[1])) {
				return tagged.Errorf(ErrUnsupported, "edge type %s: found node type %s without a table and of integer ids next to %s with keys, expected a table of %[2]s on a cluster; use graphmill import", s.Part(k).Type, s.Type(t[0]).Type, s.Type(t[1]).Type)
			}
		}
	}
	return nil
}

// divide cuts the tables into parts and counts their rows.
func (r *Run) divide(ctx context.Context, s *assemble.Share) error {
	w := &r.Work
	type whole struct {
		parts    []table.Part
		measured []table.Measured
		rows     uint64
	}
	tables := map[table.Table]*whole{}
	var measure []Task
	type place struct {
		of *whole
		i  int
	}
	var places []place
	var size int64
	add := func(t Task, of table.Table) {
		if of == nil || tables[of] != nil {
			return
		}
		x := &whole{parts: table.Divide(of, r.PartBytes)}
		x.measured = make([]table.Measured, len(x.parts))
		tables[of] = x
		counts := false
		for i, p := range x.parts {
			if !p.Counted {
				t.Part = p
				measure, places, counts = append(measure, t), append(places, place{x, i}), true
			}
		}
		if counts {
			size += of.Bytes()
		}
	}
	for t := range s.Types() {
		add(Task{Nodes: true, Index: t}, s.Type(t).Table)
	}
	for k := range s.Parts() {
		add(Task{Index: k}, s.Part(k).Table)
	}
	if err := r.do(ctx, s, Measure, measure, size, func(task int64, site *Site) error {
		m := &places[task].of.measured[places[task].i]
		return workfolder.ReadJSON(r.FS, statsFile(site.Dir, task), m)
	}); err != nil {
		return err
	}
	for _, x := range tables {
		x.rows = table.Settle(x.parts, x.measured)
	}
	w.Numbers = &assemble.Numbers{}
	w.Tasks = nil
	for t := range s.Types() {
		n := s.Type(t)
		x := tables[n.Table]
		if n.Table == nil {
			w.Numbers.Types = append(w.Numbers.Types, assemble.TypeNumbers{Count: n.Count, Keyed: s.Keyed(t)})
			continue
		}
		w.Numbers.Types = append(w.Numbers.Types, assemble.TypeNumbers{Rows: x.rows, Count: x.rows, Keyed: s.Keyed(t)})
		for _, p := range x.parts {
			w.Tasks = append(w.Tasks, Task{Nodes: true, Index: t, Part: p})
		}
	}
	for k := range s.Parts() {
		x := tables[s.Part(k).Table]
		w.Numbers.Parts = append(w.Numbers.Parts, x.rows)
		for _, p := range x.parts {
			w.Tasks = append(w.Tasks, Task{Index: k, Part: p})
		}
	}
	return nil
}

// lookAtIDs finds out which integer ids are row numbers, and numbers of nodes that follow from the largest id.
func (r *Run) lookAtIDs(ctx context.Context, s *assemble.Share) error {
	var tasks []Task
	tables := map[table.Table]bool{}
	var size int64
	n := r.Work.Numbers
	for _, t := range r.Work.Tasks {
		var of table.Table
		if t.Nodes {
			if s.Compares(t.Index) {
				of = s.Type(t.Index).Table
			}
		} else if src, dst := s.Ends(t.Index); s.Unknown(src) || s.Unknown(dst) {
			of = s.Part(t.Index).Table
		}
		if of == nil {
			continue
		}
		tasks = append(tasks, t)
		if !tables[of] {
			tables[of] = true
			size += of.Bytes()
		}
	}
	if err := r.do(ctx, s, Look, tasks, size, func(task int64, site *Site) error {
		var l looked
		if err := workfolder.ReadJSON(r.FS, statsFile(site.Dir, task), &l); err != nil {
			return err
		}
		t := &tasks[task]
		if t.Nodes {
			x := &n.Types[t.Index]
			x.Keyed = x.Keyed || !l.RowNumbers
			return nil
		}
		src, dst := s.Ends(t.Index)
		if s.Unknown(src) {
			n.Types[src].Count = max(n.Types[src].Count, l.Src)
		}
		if s.Unknown(dst) {
			n.Types[dst].Count = max(n.Types[dst].Count, l.Dst)
		}
		return nil
	}); err != nil {
		return err
	}
	for t := range s.Types() {
		if s.Compares(t) && r.Work.Rules.DanglingEdges == assemble.Zeros {
			n.Types[t].Keyed = true
		}
	}
	for k := range s.Parts() {
		if src, dst := s.Ends(k); s.Unknown(src) || s.Unknown(dst) {
			if err := s.Sparse(ctx, k, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// do runs a job of one stage, on the engine or, if its tables are small, here. read takes the result of a task.
func (r *Run) do(ctx context.Context, s *assemble.Share, job Job, tasks []Task, size int64, read func(task int64, site *Site) error) error {
	if len(tasks) == 0 {
		return nil
	}
	w := r.Work
	w.Job, w.Tasks, w.Numbers = job, tasks, nil
	site, err := newSite(r.FS, r.jobDir(job), &w, r.Source)
	if err != nil {
		return err
	}
	if err := r.prepare(site); err != nil {
		return err
	}
	whole, err := site.job.Whole(0)
	switch {
	case err != nil:
		return err
	case whole:
	case size <= r.Local:
		if err := site.job.Run(ctx, 1); err != nil {
			r.useless = ctx.Err() == nil && !workfolder.System(err)
			return err
		}
	default:
		if err := r.engine(ctx, site); err != nil {
			return err
		}
	}
	for task := range tasks {
		if err := read(int64(task), site); err != nil {
			return err
		}
	}
	return nil
}

// plan chooses the numbers of buckets and ranges.
func (r *Run) plan(s *assemble.Share) error {
	w := &r.Work
	workers := max(r.Engine.Workers(), 1)
	w.Top = make([]int, s.Types())
	for t := range w.Top {
		if w.Top[t] = -1; !s.Keyed(t) {
			continue
		}
		size := int64(0)
		if of := s.Type(t).Table; of != nil {
			size += of.Bytes()
		}
		for k := range s.Parts() {
			if src, dst := s.Ends(k); src == t || dst == t {
				size += s.Part(k).Table.Bytes()
			}
		}
		n := max(size/r.BucketBytes, 1)
		if size > r.BucketBytes/8 {
			n = max(n, int64(2*workers))
		}
		w.Top[t] = min(bits.Len64(uint64(n-1)), mostTop)
	}
	for _, rows := range s.GroupRows() {
		size := r.RangeBytes
		if rows > uint64(size/64) {
			size = min(size, int64(rows)*12/int64(2*workers))
		}
		n := assemble.Ranges(rows, size)
		w.Ranges = append(w.Ranges, [2]int{n, n})
	}
	k, bytes := w.keys(), int64(0)
	for _, of := range tablesOf(s) {
		bytes += of.Bytes()
	}
	w.Shards, w.ShardBytes = r.Shards, r.ShardBytes
	if w.Shards == 0 { // not by workers, as they must not matter to the store
		w.Shards = int(max(min(bytes/bytesPerShare, mostShares), 1))
	}
	w.Share = stages.Tasks(bytes, workers, max(k.index(k.total()), k.ranges[0][len(k.ranges[0])-1], k.ranges[1][len(k.ranges[1])-1]))
	if k.tasks+k.total() > 1<<40 {
		return fmt.Errorf("found %d parts of tables, expected fewer; take larger parts", k.tasks)
	}
	return nil
}

// tablesOf are the tables of a source, each once.
func tablesOf(s *assemble.Share) (list []table.Table) {
	seen := map[table.Table]bool{nil: true}
	take := func(of table.Table) {
		if !seen[of] {
			seen[of] = true
			list = append(list, of)
		}
	}
	for t := range s.Types() {
		take(s.Type(t).Table)
	}
	for k := range s.Parts() {
		take(s.Part(k).Table)
	}
	return list
}

func (r *Run) progress(stage string, done, total int64, unit string) {
	if r.Progress != nil {
		r.Progress(stage, done, total, unit)
	}
}

// engine runs a Work on the engine. It ends the job when a worker tells an error that trying again cannot help.
func (r *Run) engine(ctx context.Context, site *Site) error {
	r.progress(string(site.Work.Job), 0, site.job.Stages[0].Tasks, "parts")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type jobEnd struct{ err error }
	ended := make(chan jobEnd, 1)
	go func() { ended <- jobEnd{r.Engine.Run(ctx, site.Dir, site.job.Stages)} }()
	tick := time.NewTicker(workfolder.BeatOf(r.FS, site.Dir))
	defer tick.Stop()
	for {
		select {
		case end := <-ended:
			r.useless = end.err != nil && workfolder.Hopeless(r.FS, site.Dir)
			return workfolder.Explain(r.FS, site.Dir, end.err)
		case <-tick.C:
			if final, _ := workfolder.Failures(r.FS, site.Dir); len(final) > 0 {
				err := errors.New(strings.Join(final, "\n"))
				r.useless = workfolder.Hopeless(r.FS, site.Dir)
				cancel(err)
				<-ended
				return err
			}
		}
	}
}

// join makes the store from what the workers wrote: it takes their shards, and writes the rest.
func (r *Run) join(ctx context.Context, w *store.Writer) (*assemble.Result, error) {
	r.Work.Job = Build
	site, err := newSite(r.FS, r.Dir, &r.Work, r.Source)
	if err != nil {
		return nil, err
	}
	if err := site.place(ctx); err != nil {
		return nil, err
	}
	p, err := site.allPieces()
	if err != nil {
		return nil, err
	}
	w.LeaveShares(r.Work.Shards, r.Work.ShardBytes)
	res, err := site.share.Join(ctx, w, p)
	if err != nil {
		return nil, err
	}
	for i := range r.Work.Shards {
		var sums map[string]store.ManifestFor
		if err := workfolder.ReadJSON(r.FS, sumsFile(r.Dir, int64(i)), &sums); err != nil {
			return nil, err
		}
		if err := w.LinkShares(ctx, outputFolder(r.Dir), sums); err != nil {
			return nil, err
		}
	}
	return res, nil
}
