package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// partsJob is what writeParts works on.
type partsJob struct {
	store      *store.Store
	assignment *assign.Assignment
	opt        dispatch.Options
	made       store.Made
	out        outFlags
	flags      *partsFlags
	common     common
	send       sendFlags
	// finish adds files of the caller's to the output, before it is sealed; nil: none.
	finish func(w *store.Writer) error
}

// writer begins the output, or goes on with it.
func (j *partsJob) writer(ctx context.Context) (*store.Writer, error) {
	if !j.flags.resume {
		out := j.out.out
		if j.flags.dryRun {
			out += ".forecast" // what an earlier run kept stays, and an output is no matter
		}
		return store.Create(vfs.OS, out, j.out.force)
	}
	key, err := json.Marshal(j.made)
	if err != nil {
		return nil, err
	}
	// The same command of another version may divide the graph in another way.
	a := j.assignment
	key = fmt.Appendf(key, " %016x %016x", xxh3.Hash(graph.Bytes(a.Part)), xxh3.Hash(graph.Bytes(a.Trainer)))
	return store.Resume(ctx, vfs.OS, j.out.out, j.out.force, string(key), j.common.threads)
}

// errKept is what a run that can be resumed ends with when it does not come to its end.
var errKept = errors.New("the parts that are finished are kept, and the same command goes on with them")

// writeParts writes, seals, reports, publishes and sends parts.
func (t *terminal) writeParts(ctx context.Context, j *partsJob, r *report.Report, start time.Time) (err error) {
	var send *delivery
	if j.send.ipConfig != "" {
		if send, err = j.send.delivery(j.out.out, j.out.force, j.common); err != nil {
			return err
		}
		if err := send.ready(ctx, j.assignment.Parts); err != nil {
			return err
		}
	}
	w, err := j.writer(ctx)
	if err != nil {
		return err
	}
	defer func() {
		end := w.Abort
		switch {
		case j.flags.resume && ctx.Err() != nil:
			end, err = w.Leave, errKept
		case j.flags.resume && err != nil:
			end, err = w.Leave, fmt.Errorf("%w; %w", err, errKept)
		case j.flags.resume && j.flags.dryRun:
			end = w.Leave
		}
		err = errors.Join(err, end())
	}()
	if j.common.memory > 0 {
		// Garbage counts too: that of reading the assignment goes back now, and less
		// piles up later.
		debug.FreeOSMemory()
		defer debug.SetGCPercent(debug.SetGCPercent(20))
	}
	var line *progress.Line
	j.opt.Progress = func(bytes int) { line.Add(int64(bytes)) }
	began := time.Now()
	plan, err := dispatch.Prepare(ctx, vfs.OS, j.store, j.assignment, w, j.opt)
	if err != nil {
		return err
	}
	defer closeWith(&err, plan.Close)
	forecast := plan.Forecast()
	counted := time.Now()
	r.Stage("count", counted.Sub(began), 0, "")
	if j.flags.dryRun {
		return t.tellForecast(forecast, j.common)
	}
	if forecast.Seconds > 10 {
		t.say("forecast: %s on disk, %s of memory, about %s", human.Bytes(forecast.Bytes), human.Bytes(forecast.Memory), about(forecast.Seconds))
	}
	line = t.progress("write parts", forecast.Bytes, "bytes")
	defer line.Done()
	result, err := plan.Run(ctx)
	line.Done()
	if err != nil {
		return err
	}
	written := time.Now()
	r.Stage("write", written.Sub(counted), result.Bytes, "bytes")
	if j.finish != nil {
		if err := j.finish(w); err != nil {
			return err
		}
	}
	if err := w.WriteMade(j.made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, j.common.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	t.reportStored(r, result, forecast, time.Since(began))
	if send != nil {
		return t.publishAndSend(ctx, w, send, r, j.common, start)
	}
	return t.publish(w, r, j.common, start)
}

func about(s float64) string { return human.Duration(time.Duration(s * float64(time.Second))) }

// tellForecast prints what a run would need.
func (t *terminal) tellForecast(f dispatch.Forecast, c common) error {
	if c.json {
		b, err := json.MarshalIndent(map[string]any{"bytes": f.Bytes, "memory_bytes": f.Memory, "seconds": f.Seconds, "parts_at_once": f.PartsAtOnce}, "", " ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.stdout, "%s\n", b)
		return err
	}
	_, err := fmt.Fprintf(t.stdout, "%s on disk, %s of memory, about %s, %d parts at once\n", human.Bytes(f.Bytes), human.Bytes(f.Memory), about(f.Seconds), f.PartsAtOnce)
	return err
}

// reportStored tells what the parts hold.
func (t *terminal) reportStored(r *report.Report, d *dispatch.Report, f dispatch.Forecast, took time.Duration) {
	var nodes, edges, haloNodes, haloEdges uint64
	table := report.Table{Title: "Parts as they are stored", Columns: []string{"part", "nodes", "halo", "inner share", "edges", "of the halo", "bytes"}}
	for p, x := range d.Parts {
		nodes, haloNodes = nodes+uint64(x.OwnNodes), haloNodes+uint64(x.HaloNodes)
		edges, haloEdges = edges+x.OwnEdges, haloEdges+x.HaloEdges
		if p < shownParts {
			table.Rows = append(table.Rows, []report.Value{report.Count(p, ""), report.Count(x.OwnNodes, ""), report.Count(x.HaloNodes, ""),
				report.Share(share(x.OwnNodes, x.HaloNodes)), report.Count(x.OwnEdges, ""), report.Count(x.HaloEdges, ""), report.Bytes(x.Bytes)})
		}
	}
	r.Head("parts", report.Count(len(d.Parts), "parts"))
	r.Head("edges", report.Count(edges, "edges"))
	r.Head("edges a second", report.Number(float64(edges)/took.Seconds(), "/s"))
	r.Head("on disk", report.Bytes(d.Bytes))
	r.Out("nodes", report.Count(nodes, "nodes"))
	r.Out("edges", report.Count(edges, "edges"))
	r.Out("nodes of halos", report.Count(haloNodes, "nodes"))
	r.Out("edges of halos", report.Count(haloEdges, "edges"))
	r.Out("inner share of the nodes of all parts", report.Share(share(int(nodes), int(haloNodes))))
	r.Out("made at once", report.Count(d.AtOnce, "parts"))
	r.Out("forecast of the disk", report.Bytes(f.Bytes))
	r.Out("forecast of the memory", report.Bytes(f.Memory))
	r.Out("forecast of the time", report.Number(f.Seconds, "s"))
	if len(d.Parts) > shownParts {
		r.Note(fmt.Sprintf("the table lists the first %d of %d parts", shownParts, len(d.Parts)))
	}
	r.Table(table)
	if len(d.LeftOut) > 0 {
		what := "columns are left out: " + strings.Join(d.LeftOut, "; ")
		t.warn("%d %s", len(d.LeftOut), what)
		r.Warn(int64(len(d.LeftOut)), what)
	}
	if len(d.Gaps) > 0 {
		what := "types are not in every part; " + parts.GapsMeaning + ": " + strings.Join(d.Gaps, "; ")
		t.warn("%d %s", len(d.Gaps), what)
		r.Warn(int64(len(d.Gaps)), what)
	}
	if len(d.Widened) > 0 {
		r.Note("columns of types that PyTorch does not have are widened: " + strings.Join(d.Widened, "; "))
	}
}

// share is own of own and halo.
func share(own, halo int) float64 {
	if own+halo == 0 {
		return 1
	}
	return float64(own) / float64(own+halo)
}
