//go:build unix

package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Kinds of errors.
var (
	// ErrOptions is the error of options that have no meaning.
	ErrOptions = errors.New("wrong options")
	// ErrDiffer is the error of designs that made different subgraphs for the same work.
	ErrDiffer = errors.New("subgraphs differ")
)

// Options say what to sample.
type Options struct {
	// Seeds is the share of seeds among the nodes for which the first hop finds edges: above 0, at most 1.
	Seeds     float64
	SeedType  string // empty means the only node type
	Fanouts   sample.Fanouts
	BatchSize int
	Seed      uint64
	NoEdgeIDs bool
	Threads   int
	Epochs    int    // 0 means the design's default
	Memory    int64  // bound in bytes; 0 means the design's default
	Chunks    string // folder that the design chunks reads
	Scratch   string // folder for the scratch files of the design spilled
	Warn      func(string)
}

// Design is a way to sample.
type Design struct {
	Name   string
	Scope  sample.Scope
	Epochs int
	Memory int64 // 0 means no bound

	how    outofcore.Design
	stage  int  // epochs that go together through condensed layers
	window bool // an epoch is one window
	run    func(ctx context.Context, t *trial) error
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// Designs is all designs, in the order of reports.
func Designs() []Design {
	return []Design{
		{Name: "memory", Scope: sample.ScopeBatch, Epochs: 3, run: inMemory},
		{Name: "memory-epoch", Scope: sample.ScopeEpoch, Epochs: 3, run: inMemory},
		{Name: "windows", Scope: sample.ScopeBatch, Epochs: 4, Memory: 2 * gib, how: outofcore.Windows, run: streamed},
		{Name: "window", Scope: sample.ScopeBatch, Epochs: 1, Memory: gib, how: outofcore.Windows, window: true, run: streamed},
		{Name: "spilled", Scope: sample.ScopeBatch, Epochs: 1, Memory: 400 * mib, how: outofcore.Spilled, run: streamed},
		{Name: "condensed", Scope: sample.ScopeEpoch, Epochs: 16, Memory: 2 * gib, how: outofcore.Condensed, stage: 4, run: streamed},
		{Name: "condensed-1", Scope: sample.ScopeEpoch, Epochs: 8, Memory: gib, how: outofcore.Condensed, stage: 1, run: streamed},
		{Name: "chunks", Scope: sample.ScopeEpoch, Epochs: 3, run: chunks},
		{Name: "mmap", Scope: sample.ScopeBatch, Epochs: 1, Memory: gib, run: mapped},
		{Name: "sweeps", Scope: sample.ScopeBatch, Epochs: 1, run: sweeps},
	}
}

// ParseDesigns reads names of designs, separated by commas, and returns the designs in the order of Designs.
func ParseDesigns(text string) ([]Design, error) {
	all := Designs()
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	given := strings.Split(text, ",")
	for _, name := range given {
		if !slices.Contains(names, name) {
			return nil, tagged.Errorf(ErrOptions, "found design %q, expected some of %s%s", name, strings.Join(names, ","), suggest.Hint(name, names))
		}
	}
	return slices.DeleteFunc(all, func(d Design) bool { return !slices.Contains(given, d.Name) }), nil
}

// Result is the cost of a design. Figures with _per_epoch are means over the epochs.
type Result struct {
	Design    string `json:"design"`
	Scope     string `json:"scope"`
	Epochs    int    `json:"epochs"`
	Threads   int    `json:"threads"`
	Memory    int64  `json:"memory_budget_bytes,omitempty"`
	Seeds     int    `json:"seeds"`
	BatchSize int    `json:"batch_size"`
	// Batches and Edges (sampled) count all epochs; for mmap only the timed part.
	Batches uint64 `json:"batches"`
	Edges   uint64 `json:"sampled_edges"`
	// Extrapolated says that the figures of an epoch were computed from a part of it.
	Extrapolated bool `json:"extrapolated,omitempty"`

	Start   float64 `json:"start_seconds"` // until the first batch could begin
	Seconds float64 `json:"seconds_per_epoch"`
	CPU     float64 `json:"cpu_seconds_per_epoch"`
	// Others is the share of the processors of the machine that other programs used.
	Others         float64 `json:"others_cpu_share"`
	EdgesPerSecond float64 `json:"sampled_edges_per_second"`
	Read           float64 `json:"bytes_read_per_epoch"`
	Written        float64 `json:"bytes_written_per_epoch"`
	// Counted is the bytes that the executor counts as read, 0 where it does not count.
	Counted float64 `json:"counted_bytes_read_per_epoch,omitempty"`
	Sweeps  int64   `json:"sweeps,omitempty"` // of all epochs
	PeakRSS int64   `json:"peak_rss_bytes"`
	// Digest is a checksum of the subgraphs of the first epoch.
	Digest string `json:"digest,omitempty"`
	// Bytes per second of the design sweeps: by the readers of the executor, and sequential.
	SweepRate    float64 `json:"sweep_bytes_per_second,omitempty"`
	SequenceRate float64 `json:"sequential_bytes_per_second,omitempty"`
}

// trial is a design that runs.
type trial struct {
	Design
	fs    vfs.FS
	o     Options
	s     *store.Store
	plan  *sample.Plan
	job   sample.Job
	r     *Result
	began time.Time
	clock usage
}

// Run runs one design on a store. The peak memory is the peak of the whole process.
func Run(ctx context.Context, fsys vfs.FS, dir string, d Design, o Options) (_ *Result, err error) {
	t := &trial{Design: d, fs: fsys, o: o, began: time.Now()}
	t.o.Threads = max(o.Threads, 1)
	if o.Epochs > 0 {
		t.Epochs = o.Epochs
	}
	if o.Memory > 0 {
		t.Memory = o.Memory
	}
	if !(o.Seeds > 0 && o.Seeds <= 1) {
		return nil, tagged.Errorf(ErrOptions, "found a share of %v of the nodes as seeds, expected more than 0 and at most 1", o.Seeds)
	}
	if t.s, err = store.Open(fsys, dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.s.Close()) }()
	if t.s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store to sample from", dir)
	}
	if t.plan, err = t.makePlan(); err != nil {
		return nil, err
	}
	t.job = sample.Job{BatchSize: o.BatchSize, Seed: o.Seed, Epochs: t.Epochs, Shuffle: true, Threads: t.o.Threads}
	if t.job.Seeds, err = t.seeds(ctx); err != nil {
		return nil, err
	}
	t.r = &Result{Design: d.Name, Scope: d.Scope.String(), Epochs: t.Epochs, Threads: t.o.Threads, Memory: t.Memory, Seeds: len(t.job.Seeds), BatchSize: o.BatchSize}
	if err := d.run(ctx, t); err != nil {
		return nil, fmt.Errorf("design %s: %w", d.Name, err)
	}
	t.r.PeakRSS = report.PeakRSS()
	return t.r, nil
}

// start starts the clock.
func (t *trial) start() error {
	var err error
	t.r.Start = time.Since(t.began).Seconds()
	t.clock, err = now(t.fs)
	return err
}

// stop stops the clock, after the given number of epochs with the given number of sampled edges.
func (t *trial) stop(epochs float64, edges uint64) error {
	end, err := now(t.fs)
	t.note(end.since(t.clock), epochs, edges)
	return err
}

// note notes the cost of the given number of epochs.
func (t *trial) note(u usage, epochs float64, edges uint64) {
	r := t.r
	r.Seconds, r.CPU, r.Others = u.seconds/epochs, u.cpu/epochs, u.others()
	r.Read, r.Written = float64(u.read)/epochs, float64(u.written)/epochs
	r.Edges, r.EdgesPerSecond = edges, float64(edges)/u.seconds
}

// Compare is an error where results of the same work have different subgraphs.
func Compare(results []*Result) error {
	type work struct {
		scope     string
		seeds, of int
	}
	first := map[work]*Result{}
	for _, r := range results {
		w := work{r.Scope, r.Seeds, r.BatchSize}
		switch {
		case r.Digest == "":
		case first[w] == nil:
			first[w] = r
		case first[w].Digest != r.Digest:
			return tagged.Errorf(ErrDiffer, "found other subgraphs by design %s (%s) than by design %s (%s), expected the same; was the store changed meanwhile? run graphmill verify on it",
				r.Design, r.Digest, first[w].Design, first[w].Digest)
		}
	}
	return nil
}
