package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func newForecast(t *terminal) *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use:   "forecast STORE",
		Short: "What sampling would take: sweeps, bytes, memory, time",
		Long: `Tells what graphmill sample with the same flags would take, by the executor that it
would choose, and by each of the others. The disk is measured (less than a second) and
a few seeds are sampled; nothing is written.

READ is what is read of the neighbours and columns, MEMORY the peak of the process
and LEAST the smallest --memory that will do. The memory executor reads what is not
in the page cache. The time that the output takes to write is not in TIME.`,
		Example: `  graphmill forecast g.store --fanout 15,10,5 --epochs 10 --memory 2GiB
  graphmill forecast g.store --fanout 15,10,5 --scope epoch --epochs 10 --memory 2GiB
  graphmill forecast g.store --fanout 15,10 --format tfrecord --scope seed --memory 8GiB --json | jq .forecast.seconds`,
		Args: oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			return t.forecast(cmd.Context(), args[0], &f)
		},
	}
	f.add(cmd)
	return cmd
}

func (t *terminal) forecast(ctx context.Context, dir string, f *workFlags) (err error) {
	start := time.Now()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	r := t.begin("forecast", "Forecast of sampling "+filepath.Base(filepath.Clean(dir)), f.common)
	p, c, err := f.prepare(ctx, s, func(m string) { t.warn("%s", m) })
	if err != nil {
		return err
	}
	if err := c.foretell(ctx, s, p, r, f.format == "tfrecord"); err != nil {
		return flags.UsageOf(err)
	}
	r.Finish(time.Since(start))
	if f.json {
		return t.finish(r, f.common)
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "EXECUTOR\tDESIGN\tSWEEPS\tREAD\tWRITTEN\tMEMORY\tTIME\tLEAST\t")
	for _, told := range r.Forecasts {
		fmt.Fprintf(w, "%s\t%s\t", told.Executor, told.Design)
		if told.Refused != "" {
			fmt.Fprint(w, "refused\t\t\t\t\t")
		} else {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t", human.Exact(told.Sweeps), human.Bytes(told.Bytes), human.Bytes(told.Written), human.Bytes(told.Memory), orDash(told.Seconds > 0, about(told.Seconds)))
		}
		fmt.Fprintf(w, "%s\t\n", orDash(told.Least > 0, human.Bytes(told.Least)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintln(t.stdout, human.Printable(n.Text))
	}
	return nil
}

// orDash is s, or a dash where it is not known.
func orDash(known bool, s string) string {
	if known {
		return s
	}
	return "-"
}

// foretell adds to a report what a run by each executor would take, and which sample
// chooses. joins says that columns are written.
func (c choice) foretell(ctx context.Context, s *store.Store, p *flags.Planned, r *report.Report, joins bool) (err error) {
	need, bound := c.need(s, p.Plan)
	memory := report.Forecast{Executor: "memory", Bytes: need, Memory: need, Least: need}
	if c.memory > 0 && need > bound {
		memory.Refused = tooLarge(need, bound)
	}
	designs, chosen := []report.Forecast{{Executor: "stream"}}, outofcore.Auto
	var refused error
	c.scratch = "." // would be in the folder of the output
	x, err := c.streamed(ctx, s, p.Plan, bound)
	switch {
	case errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory):
		designs[0].Refused, refused = err.Error(), err
	case err != nil:
		return err
	default:
		defer closeWith(&err, x.Close)
		if joins {
			if err := output.Fetch(x, c.options.Induce); err != nil {
				return err
			}
		}
		told, err := x.Forecasts(ctx, p.Job)
		if err != nil {
			return err
		}
		designs, chosen, refused = nil, told.Chosen, told.Err
		for _, f := range told.Designs {
			designs = append(designs, foretold(f))
		}
		memory.Seconds = told.Mapped
		r.In("seeds", report.Count(len(p.Job.Seeds)/x.Sampler().SeedWidth(), "seeds"))
		r.In("batches", report.Count(told.Batches, "batches"))
		r.In("sampled edges, about", report.Count(uint64(told.Edges), "edges"))
	}
	r.Forecasts = append([]report.Forecast{memory}, designs...)
	c.verdict(r, chosen, refused, need, bound)
	return nil
}

// foretold is a forecast as a report has it.
func foretold(f outofcore.Forecast) report.Forecast {
	told := report.Forecast{Executor: "stream", Design: f.Design.String(), Sweeps: f.Sweeps, Bytes: f.Bytes, Written: f.Written, Memory: f.Memory, Least: f.Least, Seconds: f.Seconds}
	if f.Err != nil {
		told.Refused = f.Err.Error()
	}
	return told
}

// verdict says which executor sample would take, and why. chosen is the design of the
// stream executor; refused is why there is none.
func (c choice) verdict(r *report.Report, chosen outofcore.Design, refused error, need, bound int64) {
	take := func(executor string, design outofcore.Design, why string) {
		for i, f := range r.Forecasts {
			if f.Executor == executor && (executor == "memory" || f.Design == design.String()) {
				r.Executor, r.Design, r.Forecast = f.Executor, f.Design, &r.Forecasts[i]
			}
		}
		if r.Design != "" {
			executor += " executor, design " + r.Design
		} else {
			executor += " executor"
		}
		r.Note("sample takes the " + executor + ": " + why)
	}
	switch fits := bound == 0 || need <= bound; {
	case c.executor == "memory" && (fits || c.memory == 0):
		take("memory", 0, "--executor memory asks for it")
	case c.executor == "memory":
		r.Note("sample refuses: " + tooLarge(need, bound))
	case c.executor == "auto" && fits && bound == 0:
		take("memory", 0, fmt.Sprintf("it needs %s, and what is available is not known", human.Bytes(need)))
	case c.executor == "auto" && fits:
		take("memory", 0, fmt.Sprintf("it needs %s, and there are %s", human.Bytes(need), human.Bytes(bound)))
	case c.executor == "auto" && refused == nil:
		take("stream", chosen, tooLarge(need, bound))
	case c.executor == "auto" && c.memory == 0:
		take("memory", 0, "the stream executor cannot: "+refused.Error())
	case refused == nil:
		take("stream", chosen, "--executor stream asks for it")
	default:
		e := executor{}
		if c.executor == "auto" {
			e.need = need
		}
		r.Note("sample refuses: " + e.both(refused).Error())
	}
}
