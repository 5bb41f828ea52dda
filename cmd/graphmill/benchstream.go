package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/sample/trial"
)

// benchStreamResult is the JSON of bench stream.
type benchStreamResult struct {
	Results []*trial.Result `json:"results"`
	Store   string          `json:"store"`
	Fanout  string          `json:"fanout"`
	Machine string          `json:"machine"`
	Version string          `json:"version"`
}

func newBenchStream(t *terminal) *cobra.Command {
	var (
		c               common
		o               trial.Options
		fanout, designs string
	)
	cmd := &cobra.Command{
		Use:   "stream STORE",
		Short: "What an epoch costs by each way to sample out of core",
		Long: `Samples the same seeds by each design, one after the other, each in a process of
its own: seconds, processor seconds and bytes an epoch, and peak memory.

  memory, memory-epoch  the memory executor, scope batch and scope epoch
  windows               stream executor, scope batch, a pipeline over four epochs
  window                the same, one cold epoch in one window
  spilled               the same, requests and results on the disk
  condensed             stream executor, scope epoch, four epochs a stage
  condensed-1           the same, one epoch a stage
  chunks                the epoch ahead, chunk by chunk, out of --chunks (made by
                        graphmill chunk)
  mmap                  the memory executor over the mapped store of which --memory may
                        be resident; extrapolated from 20 seconds
  sweeps                reading alone: the stream executor's readers, and in sequence

Seeds are spread over the nodes that the first hop finds edges at. --epochs and --memory
replace what each design has of its own. Subgraphs of the first epoch are compared: it is
an error if designs make different ones. OTHERS is the share of the machine that other
programs took meanwhile: above a tenth the row is no figure.`,
		Example: `  graphmill bench stream g.store --seeds-share 0.01 --fanout 15,10,5
  graphmill bench stream g.store --chunks g.chunks --designs memory,windows,chunks --json
  graphmill bench stream g.store --designs sweeps`,
		Args: oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := c.check(); err != nil {
				return err
			}
			if o.BatchSize < 1 || o.Epochs < 0 {
				return usagef("found --batch-size %d and --epochs %d, expected at least 1", o.BatchSize, o.Epochs)
			}
			if o.Fanouts, err = sample.ParseFanouts(fanout); err != nil {
				return usageError{err}
			}
			o.Threads, o.Memory = c.threads, int64(c.memory)
			o.Warn = func(m string) { t.warn("%s", m) }
			if designs == "" {
				designs = allDesigns(o.Chunks != "")
			}
			list, err := trial.ParseDesigns(designs)
			if err != nil {
				return usageError{err}
			}
			b := benchStreamResult{Store: args[0], Fanout: fanout, Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Version: version()}
			for _, d := range list {
				var r *trial.Result
				if len(list) == 1 {
					r, err = trial.Run(cmd.Context(), fsx.OS, args[0], d, o)
				} else {
					r, err = t.benchApart(cmd, args[0], d)
				}
				if err != nil {
					return trialUsage(err)
				}
				b.Results = append(b.Results, r)
			}
			if err := trial.Compare(b.Results); err != nil {
				return err
			}
			if c.json {
				e := json.NewEncoder(t.stdout)
				e.SetIndent("", " ")
				return e.Encode(b)
			}
			return b.print(t.stdout)
		},
	}
	c.add(cmd)
	f := cmd.Flags()
	f.StringVar(&fanout, "fanout", "15,10,5", "edges a node at each hop")
	f.Float64Var(&o.Seeds, "seeds-share", 0.01, "share of the nodes with edges that are seeds")
	f.StringVar(&o.SeedType, "seed-type", "", "node type of the seeds (default: the only one)")
	f.IntVar(&o.BatchSize, "batch-size", 1024, "seeds a batch")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of all draws")
	f.IntVar(&o.Epochs, "epochs", 0, "epochs of each design (default: the design's)")
	f.BoolVar(&o.NoEdgeIDs, "no-edge-ids", false, "leave the ids of edges out")
	f.StringVar(&o.Chunks, "chunks", "", "folder of graphmill chunk, for the design chunks")
	f.StringVar(&o.Scratch, "scratch", "", "folder with room for what the design spilled writes (default: beside the store)")
	f.StringVar(&designs, "designs", "", "designs to run, separated by commas (default: all; chunks only with --chunks)")
	return cmd
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

func trialUsage(err error) error {
	if errors.Is(err, trial.ErrOptions) || errors.Is(err, sample.ErrPlan) {
		return usageError{err}
	}
	return err
}

// benchApart runs one design in a process of its own, with the flags of this one.
func (t *terminal) benchApart(cmd *cobra.Command, store string, d trial.Design) (*trial.Result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"bench", "stream", "--json", "--designs=" + d.Name}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "json" && f.Name != "designs" {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	t.say("%s", d.Name)
	child := exec.CommandContext(cmd.Context(), program, append(args, "--", store)...)
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = time.Minute
	var out bytes.Buffer
	child.Stdout, child.Stderr = &out, t.stderr
	if err := child.Run(); err != nil {
		if cmd.Context().Err() != nil {
			return nil, context.Cause(cmd.Context())
		}
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
			return nil, errTold // by the process
		}
		return nil, fmt.Errorf("design %s: %w", d.Name, err)
	}
	var b benchStreamResult
	if err := json.Unmarshal(out.Bytes(), &b); err != nil || len(b.Results) != 1 {
		return nil, fmt.Errorf("design %s: found no result in what its process printed: %w", d.Name, err)
	}
	return b.Results[0], nil
}

// print prints a row a design.
func (b *benchStreamResult) print(out io.Writer) error {
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
	_, err := fmt.Fprintf(out, "%s seeds, fanout %s, batches of %d; %s, graphmill %s\n", human.Exact(int64(r.Seeds)), b.Fanout, r.BatchSize, b.Machine, b.Version)
	return err
}
