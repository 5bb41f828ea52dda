//go:build unix

// Command outofcore samples the same seeds by each way to sample a graph that does not fit in memory, one after the
// other, each in a process of its own. It prints the cost of an epoch: seconds, processor seconds, bytes read and
// written, and peak memory.
//
//	go run ./bench/outofcore -fanout 15,10,5 g.store
//	go run ./bench/outofcore -chunks g.chunks -designs memory,windows,chunks -json g.store
//	go run ./bench/outofcore -designs sweeps g.store
//
// Package trial describes the designs. Seeds are spread over the nodes for which the first hop finds edges. The
// subgraphs of the first epoch are compared: it is an error if designs make different ones. OTHERS is the share of the
// machine that other programs used meanwhile. A row with more than a tenth is not a valid figure.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/graphmill/graphmill/bench/outofcore/trial"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runDesigns(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, errTold) && !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(os.Stderr, "outofcore: %v\n", err)
		}
		os.Exit(1)
	}
}

// errTold is a failure that a child process has already described.
var errTold = errors.New("a design failed")

// results is the JSON of a run.
type results struct {
	Results []*trial.Result `json:"results"`
	Store   string          `json:"store"`
	Fanout  string          `json:"fanout"`
	Machine string          `json:"machine"`
}

// runDesigns runs the designs that the arguments name.
func runDesigns(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o := trial.Options{Warn: func(m string) { fmt.Fprintf(stderr, "outofcore: warning: %s\n", m) }}
	f := flag.NewFlagSet("outofcore", flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "print JSON")
	fanout := f.String("fanout", "15,10,5", "edges per node at each hop")
	designs := f.String("designs", "", "designs to run, separated by commas (default: all; chunks only with -chunks)")
	f.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "worker threads")
	f.Int64Var(&o.Memory, "memory", 0, "bytes of memory of each design (default: as the design sets it)")
	f.Float64Var(&o.Seeds, "seeds-share", 0.01, "share of the nodes with edges that are seeds")
	f.StringVar(&o.SeedType, "seed-type", "", "node type of the seeds (default: the only one)")
	f.IntVar(&o.BatchSize, "batch-size", 1024, "seeds per batch")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed of all draws")
	f.IntVar(&o.Epochs, "epochs", 0, "epochs of each design (default: as the design sets it)")
	f.BoolVar(&o.NoEdgeIDs, "no-edge-ids", false, "leave the ids of edges out")
	f.StringVar(&o.Chunks, "chunks", "", "folder of graphmill chunk, for the design chunks")
	f.StringVar(&o.Scratch, "scratch", "", "folder for the scratch files of the design spilled (default: the folder of the store)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 || o.Threads < 1 || o.BatchSize < 1 || o.Epochs < 0 || o.Memory < 0 {
		return errors.New("expected one STORE, and -threads, -batch-size, -epochs and -memory that are not negative")
	}
	if o.Fanouts, err = sample.ParseFanouts(*fanout); err != nil {
		return err
	}
	if *designs == "" {
		*designs = allDesigns(o.Chunks != "")
	}
	list, err := trial.ParseDesigns(*designs)
	if err != nil {
		return err
	}
	b := results{Store: f.Arg(0), Fanout: *fanout, Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	for _, d := range list {
		var r *trial.Result
		if len(list) == 1 {
			r, err = trial.Run(ctx, vfs.OS, f.Arg(0), d, o)
		} else {
			r, err = apart(ctx, f, d, stderr)
		}
		if err != nil {
			return err
		}
		b.Results = append(b.Results, r)
	}
	if err := trial.Compare(b.Results); err != nil {
		return err
	}
	if *asJSON {
		e := json.NewEncoder(stdout)
		e.SetIndent("", " ")
		return e.Encode(b)
	}
	return b.print(stdout)
}

// allDesigns is the names of all designs that can run.
func allDesigns(chunks bool) string {
	var names []string
	for _, d := range trial.Designs() {
		if d.Name != "chunks" || chunks {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, ",")
}

// apart runs one design in a process of its own, with the flags of this one.
func apart(ctx context.Context, flags *flag.FlagSet, d trial.Design, stderr io.Writer) (*trial.Result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"-json", "-designs=" + d.Name}
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "json" && f.Name != "designs" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	fmt.Fprintf(stderr, "outofcore: %s\n", d.Name)
	child := exec.CommandContext(ctx, program, append(args, "--", flags.Arg(0))...)
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = time.Minute
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, stderr
	if err := child.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); ctx.Err() == nil && errors.As(err, &exit) && exit.Exited() {
			return nil, errTold
		}
		return nil, fmt.Errorf("design %s: %w", d.Name, err)
	}
	var b results
	if err := json.Unmarshal(out.Bytes(), &b); err != nil || len(b.Results) != 1 {
		return nil, fmt.Errorf("design %s: found no result in the output of its process: %w", d.Name, err)
	}
	return b.Results[0], nil
}

// print prints a row per design.
func (b *results) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "DESIGN\tSCOPE\tEPOCHS\tTHREADS\tMEMORY\tS/EPOCH\tCPU S\tGB READ\tGB WRITTEN\tPEAK MIB\tEDGES/S\tOF MEMORY\tOTHERS\t")
	rate := map[string]float64{}
	for _, r := range b.Results {
		if strings.HasPrefix(r.Design, "memory") {
			rate[r.Scope] = r.EdgesPerSecond
		}
	}
	for _, r := range b.Results {
		epochs, bound, edges, of := fmt.Sprint(r.Epochs), "-", "-", "-"
		if r.Memory > 0 {
			bound = human.Bytes(r.Memory)
		}
		if r.Extrapolated {
			epochs = "part"
		}
		if r.Edges > 0 {
			edges = human.Number(r.EdgesPerSecond)
		}
		if r.Edges > 0 && rate[r.Scope] > 0 {
			of = fmt.Sprintf("%.3g", r.EdgesPerSecond/rate[r.Scope])
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%s\t%s\t%.0f%%\t\n", r.Design, r.Scope, epochs, r.Threads, bound,
			r.Seconds, r.CPU, r.Read/1e9, r.Written/1e9, r.PeakRSS>>20, edges, of, 100*r.Others)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range b.Results {
		if r.SequenceRate > 0 {
			fmt.Fprintf(out, "sweeps: %.2f GB/s, in sequence %.2f GB/s: %.0f %%, with %.2f CPUs busy\n", r.SweepRate/1e9, r.SequenceRate/1e9, 100*r.SweepRate/r.SequenceRate, r.CPU/r.Seconds)
		}
	}
	r := b.Results[0]
	_, err := fmt.Fprintf(out, "%s seeds, fanout %s, batches of %d; %s\n", human.Exact(int64(r.Seeds)), b.Fanout, r.BatchSize, b.Machine)
	return err
}
