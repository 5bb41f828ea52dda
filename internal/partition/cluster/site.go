package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Site is a phase of a Work on one machine. It is safe for concurrent use.
type Site struct {
	Dir  string // of the phase, in the work folder
	Work *Work

	fs       vfs.FS
	root     string // the work folder
	phase    *phase
	store    *store.Store
	job      *stages.Job
	pulse    *workfolder.Pulse[Counts]
	done     atomic.Uint64
	messages *messages
	plan     *ranges.Plan
	weights  []uint32
	ends     []int // of the ranges
	starts   []int // of the pieces, and the end of the last one
	readers  sync.Pool
	visitors sync.Pool

	opening sync.Mutex // of what the stage list made
	listed  *listed
	rows    *undirected.Spilled

	// now is what all workers know at one moment of the run. A task that moves it to another moment waits until no other task reads it.
	reading sync.RWMutex
	now     state
	// refused are the bins that a round refuses, which many tasks ask for.
	choosing sync.Mutex
	chosen   moment
	refused  []uint32
}

// Counts is the work that all workers have done. An engine may call a function again, so they are bounds.
type Counts struct {
	Tasks uint64 `json:"tasks"`
}

// Open opens a phase of the Work of a folder: dir is the folder of the phase. The caller closes it.
func Open(fsys vfs.FS, dir string) (*Site, error) {
	s := &Site{fs: fsys, Dir: dir, root: filepath.Dir(dir)}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Site) open() (err error) {
	defer guard.Catch(&err)()
	if s.Work, err = readWork(s.fs, s.root); err != nil {
		return err
	}
	w := s.Work
	if s.phase = phaseOf(filepath.Base(s.Dir)); s.phase == nil {
		return fmt.Errorf("%s: found a phase of an unknown name, expected one of this version; install the same version on all machines", s.Dir)
	}
	if s.store, err = store.OpenSame(s.fs, w.Store, w.StoreSum); err != nil {
		return err
	}
	if s.plan, s.weights, err = w.plan(s.store); err != nil {
		return err
	}
	if err := s.store.Release(); err != nil {
		return err
	}
	s.ends, s.starts = s.plan.Split(w.Ranges), s.plan.Split(w.Pieces)
	s.messages = &messages{s.fs, filepath.Join(s.root, w.messagesDir())}
	s.now = state{w: w, plan: s.plan, all: s.messages, weights: s.weights}
	s.visitors.New = func() any { return ranges.NewVisitor(s.plan) }
	s.job = &stages.Job{FS: s.fs, Work: s.Dir, Dir: filepath.Join(s.Dir, w.recordsDir()), Do: s.do, Stages: w.stages(s.phase)}
	s.pulse = workfolder.StartPulse(s.fs, s.Dir, func() Counts { return Counts{s.done.Load()} })
	return nil
}

// plan makes the plan of the graph of a store, and the weights of its nodes.
func (w *Work) plan(s *store.Store) (*ranges.Plan, []uint32, error) {
	constraints, weights, err := partition.NodeWeights(s, w.Balance)
	if err != nil {
		return nil, nil, err
	}
	n := int(undirected.Starts(s.Graph)[len(s.Graph.Nodes)])
	p, err := ranges.NewPlan(n, weights != nil, undirected.TotalsOf(n, constraints, weights), w.options())
	return p, weights, err
}

// Close frees the Site. No function may run.
func (s *Site) Close() error {
	s.pulse.Stop()
	var errs []error
	if s.rows != nil {
		errs = append(errs, s.rows.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}

// Job implements stages.Site.
func (s *Site) Job() *stages.Job { return s.job }

// do is the function of the job: keys are ranges or pieces.
func (s *Site) do(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	x := &s.phase.steps[stage]
	n := int64(s.Work.tasks(x))
	if key < 0 || key >= n {
		return fmt.Errorf("stage %s: found key %d, expected one below %d; use the same version on all machines", x.name, key, n)
	}
	t := &task{Site: s, step: x, number: int(key), records: records, give: func(key int, record []byte) { emit(stage+1, int64(key), record) }}
	if x.kind == propose && x.pass == ranges.ClusterPasses-1 {
		t.favour = func(record []byte) { emit(len(s.phase.steps)-2, key, record) } // to lonely
	}
	err := t.run(ctx)
	if err == nil {
		s.done.Add(1)
	}
	return err
}

// with calls fn while all workers know what they do at a moment.
func (s *Site) with(ctx context.Context, at moment, fn func(now *state) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err := s.ifNow(at, fn); done {
			return err
		}
		if err := s.advance(ctx, at); err != nil {
			return err
		}
	}
}

// ifNow calls fn if now is at the given moment, and says whether it did.
func (s *Site) ifNow(at moment, fn func(now *state) error) (done bool, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.now.moment != at {
		return false, nil
	}
	return true, fn(&s.now)
}

func (s *Site) advance(ctx context.Context, to moment) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	if to.era == numbered && s.now.era != numbered {
		l, err := s.graph(ctx)
		if err != nil {
			return err
		}
		s.now.own = s.plan.OwnCore(l.entries, s.Work.Whole)
	}
	return s.now.advance(ctx, to)
}

// graph opens the rows that the stage list wrote.
func (s *Site) graph(ctx context.Context) (*listed, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.rows != nil {
		return s.listed, nil
	}
	l, err := s.Work.readListed(ctx, s.messages, s.root, s.starts)
	if err != nil {
		return nil, err
	}
	if s.rows, err = undirected.OpenPieces(s.fs, l.pieces); err != nil {
		return nil, err
	}
	s.rows.Constraints, s.rows.Weights = s.plan.Constraints, s.weights
	s.listed = &l
	return s.listed, nil
}

// refuse returns the bins that a round refuses, at the moment before its moves.
func (s *Site) refuse(ctx context.Context, now *state, x *step) ([]uint32, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if s.chosen == now.moment {
		return s.refused, nil
	}
	w, err := now.wanted(ctx, x.again, x.pass, x.round)
	if err != nil {
		return nil, err
	}
	s.refused, s.chosen = now.d.Choose(w.counts), now.moment
	return s.refused, nil
}

// task is a key of a stage.
type task struct {
	*Site
	step    *step
	number  int
	records func() ([]byte, bool)
	give    func(key int, record []byte) // to the next stage
	favour  func(record []byte)
	read    atomic.Int64
}

func (t *task) run(ctx context.Context) error {
	switch t.step.kind {
	case mirror:
		return t.mirror(ctx)
	case list:
		return t.list(ctx)
	case propose, lonely:
		return t.propose(ctx)
	case accept, pair:
		return t.accept(ctx)
	case contract:
		return t.contract(ctx)
	case core:
		return t.core(ctx)
	case want:
		return t.want(ctx)
	case move:
		return t.move(ctx)
	case count:
		return t.count(ctx)
	case fill:
		return t.fill(ctx)
	case cut:
		return t.cut(ctx)
	default:
		return t.measure(ctx)
	}
}

// between is the range of the nodes from..to-1.
func (t *task) between(ctx context.Context, from, to int) (*ranges.Range, error) {
	if _, err := t.graph(ctx); err != nil {
		return nil, err
	}
	return &ranges.Range{Plan: t.plan, Graph: t.rows, Weights: t.weights, From: from, To: to, Read: func(n int64, _ bool) { t.read.Add(n) }}, nil
}

// visit calls fn for the range of the task, at a moment.
func (t *task) visit(ctx context.Context, at moment, fn func(now *state, r *ranges.Range, m *ranges.Visitor) error) error {
	r, err := t.between(ctx, t.ends[t.number], t.ends[t.number+1])
	if err != nil {
		return err
	}
	return t.with(ctx, at, func(now *state) error {
		m := t.visitors.Get().(*ranges.Visitor)
		err := fn(now, r, m)
		if err == nil {
			t.visitors.Put(m) // after a fault it holds anything
		}
		return err
	})
}

// tell saves the message of the task for all workers.
func (t *task) tell(sent int64, body []byte) error {
	return t.messages.write(t.step.name, t.number, message{t.read.Load(), sent, body})
}

// batchRecords is the number of far ends that one record carries.
const batchRecords = 1 << 11

// mirror tells of the edges whose near ends are in a piece: each piece of its far ends.
func (t *task) mirror(ctx context.Context) (err error) {
	t.give(t.number, nil) // each piece is made
	reader, ok := t.readers.Get().(*undirected.Reader)
	if !ok {
		if reader, err = undirected.NewReader(t.store); err != nil {
			return err
		}
	}
	batches, n := make([][]byte, t.Work.Pieces), 0
	err = reader.Mirror(t.starts[t.number], t.starts[t.number+1], func(far uint32, record uint64) error {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		to := ranges.Owner(t.starts, far)
		if batches[to] = binary.LittleEndian.AppendUint64(batches[to], record); len(batches[to]) == 8*batchRecords {
			t.give(to, batches[to])
			batches[to] = batches[to][:0]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for to, b := range batches {
		if len(b) > 0 {
			t.give(to, b)
		}
	}
	t.readers.Put(reader)
	return nil
}

// list writes the rows of a piece, and tells of their number and the degrees.
func (t *task) list(context.Context) (err error) {
	reader, ok := t.readers.Get().(*undirected.Reader)
	if !ok {
		if reader, err = undirected.NewReader(t.store); err != nil {
			return err
		}
	}
	var far []uint64
	for b, more := t.records(); more; b, more = t.records() {
		for ; len(b) >= 8; b = b[8:] {
			far = append(far, binary.LittleEndian.Uint64(b))
		}
	}
	from, to := t.starts[t.number], t.starts[t.number+1]
	b, err := reader.Rows(from, to, far)
	if err != nil {
		return err
	}
	if int64(len(b.Neighbours)) > math.MaxUint32 {
		return fmt.Errorf("found %d neighbours of the nodes %d to %d, expected fewer than 2^32; divide this graph by hash or random", len(b.Neighbours), from, to-1)
	}
	if err := vfs.WriteWhole(t.fs, t.Work.pieceFile(t.root, t.number), func(f vfs.File) error { return undirected.WritePiece(f, &b) }); err != nil {
		return err
	}
	var degrees ranges.Degrees
	if t.plan.Constraints == 1 {
		var weights []uint32
		if t.weights != nil {
			weights = t.weights[from:to]
		}
		c := ranges.NewDegreeCounter()
		c.Block(&b, weights)
		degrees = c.Degrees()
	}
	err = t.tell(0, degrees.Append(number(int64(len(b.Neighbours)))))
	t.readers.Put(reader)
	return err
}

// propose is the first half of a round of the clusters. A record for the accepting range is the number of neighbours that were read (8 bytes), and proposals.
func (t *task) propose(ctx context.Context) error {
	return t.visit(ctx, moment{clustering, t.step.pass*ranges.Rounds + t.step.round}, func(now *state, r *ranges.Range, m *ranges.Visitor) (err error) {
		var out ranges.Proposals
		if t.step.kind == lonely {
			favourites, err := t.favourites(r)
			if err != nil {
				return err
			}
			out = r.Lonely(now.k, favourites)
		} else {
			var favourite func(first int, own []uint32)
			if t.favour != nil {
				favourite = func(first int, own []uint32) {
					t.favour(append(binary.LittleEndian.AppendUint32(nil, uint32(first)), graph.Bytes(own)...))
				}
			}
			if out, err = r.Propose(ctx, m, now.k, t.step.pass, t.step.round, favourite); err != nil {
				return err
			}
		}
		for to, p := range t.plan.Deal(&out, t.ends) {
			switch {
			case to == t.number:
				t.give(to, p.Append(number(t.read.Load())))
			case len(p.Items) > 0:
				t.give(to, p.Append(number(0)))
			}
		}
		return nil
	})
}

// favourites reads the favourite of each node of a range. A record is the first node, and the favourites from it on, 4 bytes each.
func (t *task) favourites(r *ranges.Range) ([]uint32, error) {
	all := make([]uint32, r.To-r.From)
	for b, more := t.records(); more; b, more = t.records() {
		if len(b) == 0 {
			continue
		}
		if len(b)%4 != 0 {
			return nil, errNumber
		}
		first := int(binary.LittleEndian.Uint32(b)) - r.From
		if n := len(b)/4 - 1; first < 0 || first+n > len(all) {
			return nil, fmt.Errorf("found favourites of %d nodes from node %d on, expected those of the nodes %d to %d; use the same version on all machines", n, first+r.From, r.From, r.To-1)
		}
		for i := 4; i < len(b); i += 4 {
			all[first] = binary.LittleEndian.Uint32(b[i:])
			first++
		}
	}
	return all, nil
}

// accept is the second half of a round of the clusters.
func (t *task) accept(ctx context.Context) error {
	var in ranges.Proposals
	sent := int64(0)
	for b, more := t.records(); more; b, more = t.records() {
		read, rest, err := numberOf(b)
		if err != nil {
			return err
		}
		p, err := t.plan.ParseProposals(rest)
		if err != nil {
			return err
		}
		t.read.Add(read)
		sent += 12*int64(len(p.Items)) + 4*int64(len(p.Sizes))
		in.Merge(&p)
	}
	return t.with(ctx, moment{clustering, t.step.pass*ranges.Rounds + t.step.round}, func(now *state) error {
		var joins ranges.Joins
		if t.step.kind == pair {
			joins = now.k.Pair(&in)
		} else {
			joins = now.k.Accept(&in, t.step.pass)
		}
		if !t.last() {
			t.give(t.number, nil)
		}
		return t.tell(sent, joins.Append(nil))
	})
}

// last says whether the task belongs to the last stage of its phase.
func (t *task) last() bool { return t.step == &t.phase.steps[len(t.phase.steps)-1] }

// pairsRecord is the number of pairs that one record carries.
const pairsRecord = 1 << 15

// contract gives the pairs of the clusters of a range. Its first record is the number of neighbours that were read.
func (t *task) contract(ctx context.Context) error {
	return t.visit(ctx, moment{era: numbered}, func(now *state, r *ranges.Range, m *ranges.Visitor) error {
		pairs, err := r.Contract(ctx, m, now.coarse)
		if err != nil {
			return err
		}
		t.give(0, number(t.read.Load()))
		for len(pairs) > 0 {
			n := min(len(pairs), pairsRecord)
			t.give(0, ranges.AppendPairs(number(0), pairs[:n]))
			pairs = pairs[n:]
		}
		return nil
	})
}

// core divides the clusters: in memory, or out of core where it does not fit. All other workers wait, so that it takes all processors of its machine.
func (t *task) core(ctx context.Context) error {
	l, err := t.graph(ctx)
	if err != nil {
		return err
	}
	return t.with(ctx, moment{era: numbered}, func(now *state) error {
		w := t.Work
		o := &ranges.Options{Options: w.options(), Preset: w.Preset, Whole: w.Whole, Memory: w.Memory, FS: t.fs, Temp: t.root}
		if o.Threads = runtime.GOMAXPROCS(0); o.Memory == 0 {
			o.Memory = math.MaxInt64 / 2
		}
		var lists [][]ranges.Pair
		pairs, fits := int64(0), true
		for b, more := t.records(); more; b, more = t.records() {
			read, rest, err := numberOf(b)
			if err != nil {
				return err
			}
			if t.read.Add(read); len(rest) == 0 {
				continue
			}
			list, err := ranges.ParsePairs(rest, now.count)
			if err != nil {
				return err
			}
			// A pair of clusters may come from several ranges, so this is more than the core has.
			if pairs += int64(len(list)); fits {
				lists = append(lists, list)
			}
			if fits = fits && t.plan.CoreFits(int64(now.count), pairs, o); !fits {
				lists = nil
			}
		}
		told := coreTold{Clusters: now.count}
		var part []uint16
		if fits {
			g, err := t.plan.JoinPairs(ctx, lists, now.count, t.plan.ClusterWeights(now.count, now.coarse, t.weights), o.Threads)
			if err != nil {
				return err
			}
			told.Pairs = int64(g.Pairs())
			if part, told.Cut, err = ranges.DivideCore(ctx, g, l.entries, o); err != nil {
				return err
			}
		} else {
			c, err := t.plan.CoreOnDisk(ctx, t.rows, now.count, now.coarse, t.weights, o)
			if err != nil {
				return err
			}
			t.read.Add(l.entries)
			part, told.Cut, told.Pairs, told.OutOfCore = c.Part, c.Cut, c.Pairs, c.OutOfCore
		}
		parts := make([]uint16, len(now.coarse))
		for v, c := range now.coarse {
			parts[v] = part[c]
		}
		if err := t.messages.write(startName, 0, message{body: graph.Bytes(parts)}); err != nil {
			return err
		}
		b, err := json.Marshal(&told)
		if err != nil {
			return err
		}
		return t.tell(12*pairs, b)
	})
}

// moment is the one before the moves of the round.
func (x *step) moment() moment {
	at := moment{dividing, x.pass*ranges.Rounds + x.round}
	if x.again {
		at.era = filled
	}
	return at
}

// gain is how much the moves of the previous round in the range reduce the cut. It is 0 in the first round of a pass, since the last stage of the previous pass has counted those moves.
func (t *task) gain(ctx context.Context, now *state, r *ranges.Range, m *ranges.Visitor) (int64, error) {
	if t.step.round == 0 {
		return 0, nil
	}
	return r.Gain(ctx, m, now.d, now.applied)
}

// want is the first half of a round of refinement. It tells the gain of the round before (8 bytes) and a histogram, and keeps what it wants for move.
func (t *task) want(ctx context.Context) error {
	return t.visit(ctx, t.step.moment(), func(now *state, r *ranges.Range, m *ranges.Visitor) error {
		gain, err := t.gain(ctx, now, r, m)
		if err != nil {
			return err
		}
		w, err := r.Want(ctx, m, now.d, ranges.Refinement()[t.step.pass], t.step.round)
		if err != nil {
			return err
		}
		t.give(t.number, w.Append(nil))
		h := t.plan.Count(&w)
		return t.tell(0, h.Append(number(gain), w.Demand))
	})
}

// move is the second half of a round of refinement.
func (t *task) move(ctx context.Context) error {
	b, _ := t.records()
	w, err := t.plan.ParseWants(b)
	if err != nil {
		return err
	}
	return t.with(ctx, t.step.moment(), func(now *state) error {
		refused, err := t.refuse(ctx, now, t.step)
		if err != nil {
			return err
		}
		t.give(t.number, nil)
		m := now.d.Take(&w, refused)
		return t.tell(0, m.Append(nil))
	})
}

// count tells the gain of the last round of a pass.
func (t *task) count(ctx context.Context) error {
	return t.visit(ctx, t.step.moment(), func(now *state, r *ranges.Range, m *ranges.Visitor) error {
		gain, err := t.gain(ctx, now, r, m)
		if err != nil {
			return err
		}
		return t.tell(0, number(gain))
	})
}

// fill gives the nodes of a piece their parts in the second start, 2 bytes each.
func (t *task) fill(ctx context.Context) error {
	l, err := t.graph(ctx)
	if err != nil {
		return err
	}
	r, err := t.between(ctx, t.starts[t.number], t.starts[t.number+1])
	if err != nil {
		return err
	}
	m := t.visitors.Get().(*ranges.Visitor)
	part := make([]uint16, r.To-r.From)
	if err := r.FillByDegree(ctx, m, l.degrees, t.number, part); err != nil {
		return err
	}
	t.visitors.Put(m)
	if t.number == 0 {
		for to := range t.Work.Ranges {
			t.give(to, nil)
		}
	}
	return t.tell(0, graph.Bytes(part))
}

// cut tells the cut of the second start at the lower ends of a range.
func (t *task) cut(ctx context.Context) error {
	return t.visit(ctx, moment{era: filled}, func(now *state, r *ranges.Range, m *ranges.Visitor) error {
		cut, err := r.Cut(ctx, m, now.d)
		if err != nil {
			return err
		}
		return t.tell(0, number(cut))
	})
}
