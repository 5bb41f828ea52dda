package forecast_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
)

const (
	limit = 20 * time.Minute
	mib   = 1 << 20
	// What a told figure may differ by, as a share of the measured one. See doc.go.
	memoryShare, bytesShare, timeShare, budgetShare, roughShare = 0.10, 0.10, 0.30, 0.08, 0.35
	noise                                                       = 4 * mib // see the package comment
	// shortTime is the seconds below which a run is not judged by its time: much of it is the start of the program and the output,
	// which forecasts leave out.
	shortTime = 3
)

// Kinds of figures.
const (
	memory  = "memory"
	bytes   = "bytes"
	seconds = "time"
	budget  = "budget"  // --memory, which the peak does not exceed
	rough   = "roughly" // memory where buffers hold records of whole batches, or of a heuristic: within 35 %
	atMost  = "at most" // a told upper bound
)

// figure is one line of the table.
type figure struct {
	what, kind     string
	told, measured float64
}

// off is the share by which the told figure differs from the measured one.
func (f figure) off() float64 { return f.told/f.measured - 1 }

// ok says whether a figure is within its bound. Beside other programs a process collects its garbage late, so the short form, which runs beside them,
// takes three times the shares of memory.
func (f figure) ok(long bool) bool {
	off, slack := math.Abs(f.told-f.measured), 3.0
	if long {
		slack = 1
	}
	switch f.kind {
	case memory:
		return off <= slack*memoryShare*f.measured+noise
	case bytes:
		return off <= bytesShare*f.measured
	case rough:
		return off <= slack*roughShare*f.measured+noise
	case atMost, budget:
		return f.measured <= f.told*(1+slack*budgetShare)
	}
	return off <= timeShare*f.measured || os.Getenv("TORTURE_QUIET") != "1" || max(f.told, f.measured) < shortTime
}

// table collects figures, and prints them when the test ends.
type table struct{ figures []figure }

func (x *table) add(t *testing.T, f figure) {
	t.Helper()
	x.figures = append(x.figures, f)
	if proof.Long(t) { // the table comes after hours
		t.Logf("%s: %s: told %.1f, measured %.1f (%+.0f %%)", f.what, f.kind, scaled(f.kind, f.told), scaled(f.kind, f.measured), 100*f.off())
	}
	if !f.ok(proof.Long(t)) {
		t.Errorf("%s: %s: told %.1f, measured %.1f (%+.0f %%)", f.what, f.kind, scaled(f.kind, f.told), scaled(f.kind, f.measured), 100*f.off())
	}
}

// scaled is a figure in MiB, or in seconds.
func scaled(kind string, v float64) float64 {
	if kind == seconds {
		return v
	}
	return v / mib
}

func (x *table) print(t *testing.T) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "told\tmeasured\toff\tkind\t run\t")
	for _, f := range x.figures {
		fmt.Fprintf(w, "%.1f\t%.1f\t%+.1f %%\t%s\t %s\t\n", scaled(f.kind, f.told), scaled(f.kind, f.measured), 100*f.off(), f.kind, f.what)
	}
	_ = w.Flush()
	t.Logf("MiB, and seconds:\n%s", b.String())
	for _, kind := range []string{memory, rough, bytes, seconds, atMost, budget} {
		var off []float64
		for _, f := range x.figures {
			if f.kind == kind {
				off = append(off, math.Abs(f.off()))
			}
		}
		if len(off) == 0 {
			continue
		}
		if slices.Sort(off); kind == budget || kind == atMost {
			most := 0.0
			for _, f := range x.figures {
				if f.kind == kind {
					most = max(most, f.measured/f.told)
				}
			}
			t.Logf("%s: %d runs, the highest at %.0f %% of the bound", kind, len(off), 100*most)
			continue
		}
		t.Logf("%s: %d figures, median error %.1f %%, worst %.1f %%", kind, len(off), 100*off[len(off)/2], 100*off[len(off)-1])
	}
}

// measured is what a process took. The peak of a process is at least the peak of its parent when the parent started it.
func (b *bench) peak(t *testing.T, r command.Result) float64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status); m != nil {
		own, _ = strconv.Atoi(string(m[1]))
	}
	if r.Peak <= int64(own)<<10 {
		t.Fatalf("found a peak of %d bytes, which is not above that of the test, %d KiB", r.Peak, own)
	}
	return float64(r.Peak)
}

// size is the bytes of the files in a folder.
func size(t *testing.T, dir string) float64 {
	t.Helper()
	n := int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

func decode(t *testing.T, r command.Result, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), v); err != nil {
		t.Fatalf("%v\n%s", err, r)
	}
}

// told is a forecast as the commands print it with --json.
type told struct {
	Executor string  `json:"executor"`
	Design   string  `json:"design"`
	Bytes    float64 `json:"bytes_read"`
	Memory   float64 `json:"memory_bytes"`
	Least    float64 `json:"least_memory_bytes"`
	Seconds  float64 `json:"seconds"`
	Refused  string  `json:"refused"`
}

// sampling is one cell of the grid of sample.
type sampling struct {
	store, plan, seeds string
	format             string
	threads            int
	executor           string
	memory             string // --memory
}

func (s sampling) String() string {
	name := fmt.Sprintf("sample %s %s --limit-seeds %s %s --threads %d %s", s.store, s.plan, s.seeds, s.format, s.threads, s.executor)
	if s.memory != "" {
		name += " --memory " + s.memory
	}
	return strings.Join(strings.Fields(name), " ")
}

// args is the arguments that forecast and sample share.
func (s sampling) args(store string) []string {
	args := append([]string{store}, strings.Fields(s.plan)...)
	args = append(args, "--limit-seeds", s.seeds, "--threads", strconv.Itoa(s.threads), "--executor", s.executor, "--json")
	args = append(args, strings.Fields(s.format)...)
	if s.memory != "" {
		args = append(args, "--memory", s.memory)
	}
	return args
}

const (
	collection = ""
	records    = "--format tfrecord"
)

// samplings is the grid.
func samplings(long bool) []sampling {
	type pick struct{ store, plan, seeds, format string }
	picks := []pick{
		{"rmat16", "--fanout 15,10", "20000", collection},
		{"rmat16", "--fanout 15,10 --scope seed", "20000", records},
		{"rmat16", "--fanout 10,5 --subgraph induced", "8000", collection},
		{"wide", "--fanout 10,5", "8000", records},
		{"wide", "--fanout 10,5 --weight w --scope seed", "8000", collection},
		{"wide", "--fanout 10,5 --before t --scope seed --seeds a:r:a", "8000", collection},
		{"typed", "--fanout 5,5 --seeds paper", "20000", records},
		{"skewed", "--fanout 15,10", "20000", collection},
	}
	threads := []int{2}
	if long {
		threads = []int{1, 2}
		picks = nil
		for _, store := range []string{"rmat16", "rmat18", "rmat20", "rmat22", "skewed"} {
			for _, plan := range []string{"--fanout 5", "--fanout 15,10", "--fanout 15,10,5", "--fanout 15,10 --scope seed", "--fanout 10,5 --direction out",
				"--fanout 15,10 --expand all", "--fanout 15,10 --no-edge-ids", "--fanout 15,10 --ops", "--fanout 15,10 --scope epoch", "--fanout 15,10 --batch-size 4096",
				"--fanout 10,5 --subgraph bidirectional"} {
				picks = append(picks, pick{store, plan, "20000", collection})
			}
			for _, plan := range []string{"--fanout 5", "--fanout 15,10", "--fanout 15,10 --scope seed"} {
				picks = append(picks, pick{store, plan, "20000", records})
			}
		}
		picks = append(picks, pick{"rmat16", "--fanout 10,5 --subgraph induced", "20000", collection})
		for _, plan := range []string{"--fanout 15,10", "--fanout 10,5 --scope seed", "--fanout 10,5 --weight w", "--fanout 10,5 --weight w --scope seed",
			"--fanout 10,5 --before t --scope seed --seeds a:r:a"} {
			picks = append(picks, pick{"wide", plan, "20000", collection}, pick{"wide", plan, "10000", records})
		}
		for _, plan := range []string{"--fanout 5,5 --seeds paper", "--fanout 5,5 --scope seed --seeds author"} {
			for _, format := range []string{collection, records} {
				picks = append(picks, pick{"typed", plan, "20000", format})
			}
		}
	}
	var out []sampling
	for _, p := range picks {
		for _, n := range threads {
			out = append(out, sampling{p.store, p.plan, p.seeds, p.format, n, "memory", ""})
		}
	}
	return out
}

// streams is the grid of the stream executor.
func streams(long bool) []sampling {
	out := []sampling{
		{"rmat18", "--fanout 15,10 --epochs 2 --shuffle", "60000", collection, 2, "stream", "64MiB"},
		{"typed", "--fanout 5,5 --scope seed --seeds paper", "20000", records, 2, "stream", "128MiB"},
	}
	if !long {
		return out
	}
	for _, store := range []string{"rmat18", "rmat20", "rmat22"} {
		for _, budget := range []string{"128MiB", "256MiB", "512MiB"} {
			for _, plan := range []string{"--fanout 15,10 --epochs 2 --shuffle", "--fanout 15,10,5", "--fanout 15,10 --scope epoch --epochs 3", "--fanout 15,10 --scope seed"} {
				for _, threads := range []int{1, 2} {
					out = append(out, sampling{store, plan, "100000", collection, threads, "stream", budget})
				}
			}
		}
	}
	return out
}

// TestSample compares the forecasts of sample with its runs.
func TestSample(t *testing.T) {
	b, x := newBench(t), &table{}
	defer x.print(t)
	for _, s := range append(samplings(proof.Long(t)), streams(proof.Long(t))...) {
		store, out := b.store(t, s.store), filepath.Join(b.dir, "out")
		var f struct {
			Forecasts []told
			Forecast  told
			Design    string
			Notes     []struct{ Text string }
		}
		decode(t, b.run(t, append([]string{"forecast"}, s.args(store)...)...), &f)
		if f.Forecast.Executor != s.executor {
			t.Errorf("%s: the forecast chooses %q: %v", s, f.Forecast.Executor, f.Notes)
			continue
		}
		r := b.run(t, append([]string{"sample", "--force", "--out", out}, s.args(store)...)...)
		inRecords := s.format != collection
		peak, bySeed := b.peak(t, r), strings.Contains(s.plan, "--scope seed")
		switch {
		case s.executor == "memory" && inRecords && !bySeed:
			x.add(t, figure{s.String(), rough, f.Forecast.Memory, peak})
		case s.executor == "memory" && s.overstated():
			x.add(t, figure{s.String(), atMost, f.Forecast.Memory, peak})
		case s.executor == "memory":
			x.add(t, figure{s.String(), memory, f.Forecast.Memory, peak})
		default:
			x.add(t, figure{s.String(), budget, parse(t, s.memory), peak})
			kinds := [2]string{memory, bytes}
			if inRecords {
				kinds = [2]string{atMost, atMost}
			} else if strings.Contains(s.plan, "--scope epoch") || bySeed && s.store == "rmat18" {
				kinds[0] = rough
			}
			x.add(t, figure{s.String(), kinds[0], f.Forecast.Memory, peak})
			var did struct {
				Read float64 `json:"bytes_read"`
			}
			decode(t, r, &did)
			x.add(t, figure{s.String(), kinds[1], f.Forecast.Bytes, did.Read})
		}
		x.add(t, figure{s.String(), seconds, f.Forecast.Seconds, r.Took.Seconds()})
	}
}

// overstated says whether the memory of a cell is told up to 1.5 times too high, because few batches are large.
func (s sampling) overstated() bool {
	if s.store == "skewed" {
		return strings.Contains(s.plan, "--batch-size 4096") || strings.Contains(s.plan, "15,10,5")
	}
	return strings.Contains(s.plan, "--before") && s.format == records
}

// parse is the bytes of a --memory.
func parse(t *testing.T, s string) float64 {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSuffix(s, "MiB"))
	if err != nil {
		t.Fatal(err)
	}
	return float64(n) * mib
}

var least = regexp.MustCompile(`expected at least ([\d.]+) (MiB|GiB)`)

// TestNeed gives the memory executor the need that its refusal tells: the run then stays within 8 %.
func TestNeed(t *testing.T) {
	b, x := newBench(t), &table{}
	defer x.print(t)
	grid := samplings(proof.Long(t))
	for i, s := range grid {
		if !proof.Long(t) && i%3 != 0 || s.store == "rmat22" {
			continue
		}
		store, out := b.store(t, s.store), filepath.Join(b.dir, "out")
		s.memory = "20MiB"
		r := b.try(t, append([]string{"sample", "--force", "--out", out}, s.args(store)...)...)
		m := least.FindStringSubmatch(r.Stderr)
		if r.Status != 1 || m == nil {
			t.Errorf("expected a refusal that tells the need\n%s", r)
			continue
		}
		need, _ := strconv.ParseFloat(m[1], 64)
		if m[2] == "GiB" {
			need *= 1024
		}
		s.memory = strconv.Itoa(int(math.Ceil(need)+1)) + "MiB"
		for try := 0; ; try++ {
			r = b.try(t, append([]string{"sample", "--force", "--out", out}, s.args(store)...)...)
			// The first refusal may tell the need of the arrays alone.
			if m = least.FindStringSubmatch(r.Stderr); r.Status != 1 || m == nil || try > 0 {
				break
			}
			need, _ = strconv.ParseFloat(m[1], 64)
			s.memory = strconv.Itoa(int(math.Ceil(need)+1)) + "MiB"
		}
		if r.Status != 0 {
			t.Errorf("expected a run with the need\n%s", r)
			continue
		}
		x.add(t, figure{s.String(), budget, parse(t, s.memory), b.peak(t, r)})
	}
}

// TestParts compares the forecasts of partition and dispatch with their runs.
func TestParts(t *testing.T) {
	b, x := newBench(t), &table{}
	defer x.print(t)
	stores, budgets, threads := []string{"rmat16", "typed"}, []string{""}, []string{"2"}
	if proof.Long(t) {
		stores, budgets, threads = []string{"rmat16", "rmat18", "rmat20", "wide", "typed", "skewed"}, []string{"", "192MiB", "384MiB"}, []string{"1", "2"}
	}
	out := filepath.Join(b.dir, "out")
	for _, name := range stores {
		store := b.store(t, name)
		for _, budgetText := range budgets {
			for _, n := range threads {
				more := []string{"--threads", n}
				if budgetText != "" {
					more = append(more, "--memory", budgetText)
				}
				for _, method := range []string{"multilevel", "fennel", "ranges", "hash"} {
					if method == "multilevel" && name != "rmat16" && !proof.Long(t) {
						continue
					}
					what := strings.Join(append([]string{"partition", name, "--method", method}, more...), " ")
					r := b.run(t, append([]string{"partition", store, "--parts", "8", "--method", method, "--out", out, "--force", "--json"}, more...)...)
					var f struct {
						Forecast struct {
							Memory  float64 `json:"memory_bytes"`
							Seconds float64
							Rough   bool `json:"seconds_rough"`
							Unknown bool `json:"seconds_unknown"`
						}
					}
					decode(t, r, &f)
					kind := memory
					if name == "typed" {
						kind = atMost // edge types with the reverses of others count as pairs of their own
					}
					switch {
					case f.Forecast.Unknown:
						kind = atMost // multilevel out of core, in all of its budget
					case method == "ranges":
						kind = atMost // most graphs have far fewer clusters than nodes
					case f.Forecast.Rough:
						kind = rough // and so is the time, which is not judged
					default:
						x.add(t, figure{what, seconds, f.Forecast.Seconds, r.Took.Seconds()})
					}
					x.add(t, figure{what, kind, f.Forecast.Memory, b.peak(t, r)})
					if budgetText != "" {
						x.add(t, figure{what, budget, parse(t, budgetText), b.peak(t, r)})
					}
				}
				what := strings.Join(append([]string{"dispatch", name}, more...), " ")
				var f struct {
					Bytes, Seconds float64
					Memory         float64 `json:"memory_bytes"`
				}
				args := append([]string{store, "--parts", "4", "--out", out, "--force", "--json"}, more...)
				decode(t, b.run(t, append([]string{"dispatch", "--dry-run"}, args...)...), &f)
				r := b.run(t, append([]string{"dispatch"}, args...)...)
				x.add(t, figure{what, memory, f.Memory, b.peak(t, r)})
				x.add(t, figure{what, bytes, f.Bytes, size(t, out)})
				x.add(t, figure{what, seconds, f.Seconds, r.Took.Seconds()})
				if budgetText != "" {
					x.add(t, figure{what, budget, parse(t, budgetText), b.peak(t, r)})
				}
			}
		}
	}
}

// TestBudgets runs the commands that tell no forecast within --memory. A budget that is refused is no failure where the refusal tells the need;
// the run then gets the need.
func TestBudgets(t *testing.T) {
	b, x := newBench(t), &table{}
	defer x.print(t)
	names, budgets := []string{"typed"}, []string{"64MiB"}
	if proof.Long(t) {
		names, budgets = []string{"typed", "wide", "skewed"}, []string{"48MiB", "64MiB", "96MiB", "192MiB"}
	}
	out := filepath.Join(b.dir, "out")
	try := func(m string, args ...string) {
		args = append(args, "--out", out, "--memory")
		r := b.try(t, append(args, m)...)
		if need := least.FindStringSubmatch(r.Stderr); r.Status == 1 && need != nil {
			n, err := strconv.ParseFloat(need[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if need[2] == "GiB" {
				n *= 1024
			}
			m = strconv.Itoa(int(math.Ceil(n))+1) + "MiB"
			r = b.try(t, append(args, m)...)
		}
		if r.Status != 0 {
			t.Fatal(r)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		what := slices.Clone(args[:len(args)-3])
		for i, a := range what {
			what[i] = filepath.Base(a)
		}
		x.add(t, figure{strings.Join(append(what, "--memory", m), " "), budget, parse(t, m), b.peak(t, r)})
	}
	for _, m := range budgets {
		for _, name := range names {
			store := b.store(t, name)
			for _, args := range [][]string{
				{"import", filepath.Join(b.dir, name, "graph.yaml"), "--both", "--threads", "2"},
				{"export", store, "--to", "chunked", "--edges", "numpy"},
				{"export", store, "--to", "chunked", "--edges", "parquet", "--features", "parquet", "--chunks", "3"},
				{"export", store, "--to", "metis"},
				{"partition-graph", store, "--parts", "4", "--method", "fennel"},
			} {
				try(m, args...)
			}
		}
		try(m, "import", b.edges(t))
		try(m, "generate", "rmat", "--scale", "17", "--edge-factor", "16")
		try(m, "export", b.egonets(t), "--to", "tfrecord", "--store", b.store(t, "typed"))
		try(m, "pack", b.egonets(t), "--limit", "num_nodes=1000", "--limit", "num_edges=4000")
	}
}
