package dispatching

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/dispatch/cluster"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// partsOptions converts the options for package dispatch. name is the name of the graph if the options give none.
func partsOptions(o *option.DGLParts, name string, parts int, run *option.Run) (opt dispatch.Options, err error) {
	if o.GraphName != "" {
		name = o.GraphName
	}
	if err := dispatch.CheckGraphName(name); err != nil {
		return opt, operation.Usagef("%w", err)
	}
	if o.NumHops < option.NoHops || o.NumHops > 8 {
		return opt, operation.Usagef("found `NumHops` %d, expected 0 to 8", o.NumHops)
	}
	if o.PartsAtOnce < 0 {
		return opt, operation.Usagef("found `PartsAtOnce` %d, expected at least 1", o.PartsAtOnce)
	}
	operation.SetDefault(&o.NumHops, 1)
	operation.SetDefault(&o.GraphFormats, "coo,csc")
	opt = dispatch.Options{GraphName: name, Hops: max(o.NumHops, 0), OriginalNodes: o.SaveOrigNids, OriginalEdges: o.SaveOrigEids,
		Threads: run.Threads, Memory: run.Memory, PartsAtOnce: o.PartsAtOnce}
	if o.Resume && o.PartsAtOnce == 0 {
		opt.PartsAtOnce = (parts + 3) / 4
	}
	if opt.Formats, err = dgl.ParseFormats(o.GraphFormats); err != nil {
		return opt, operation.Usagef("`GraphFormats`: %w", err)
	}
	return opt, nil
}

// madeParts adds the options that determine the bytes of the parts.
func madeParts(m *store.Made, opt dispatch.Options) {
	for key, v := range map[string]string{
		"graph_name": opt.GraphName, "num_hops": strconv.Itoa(opt.Hops), "out_edges": strconv.FormatBool(opt.Leaving), "graph_formats": opt.Formats.String(),
		"save_orig_nids": strconv.FormatBool(opt.OriginalNodes), "save_orig_eids": strconv.FormatBool(opt.OriginalEdges), "part_ids": strconv.FormatBool(opt.PartIDs)} {
		m.Options[key] = v
	}
}

// Dispatch writes the parts of a graph to the folder out in DGL's distributed format: GRAPH_NAME.json, metadata.json,
// and for each part graph.dgl, node_feat.dgl and edge_feat.dgl. The graph in is a store or a graph in DGL's chunked
// format. The assignment is the folder that Partition wrote, or any folder with a file <node type>.txt per node type; with
// option.Dispatch.Parts it is "". The bytes depend neither on Threads nor on Memory. If a run with Resume stops early, its error is ErrResumable.
//
// c makes the parts on the workers of a cluster; nil makes them in this process. The bytes are the same.
func Dispatch(ctx context.Context, in, assignment, out string, o option.Dispatch, c *Cluster) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	j, err := prepareDispatch(&o, ctx, in, assignment, out, c)
	if err != nil {
		return nil, err
	}
	err = j.write(ctx)
	operation.CloseAfter(&err, out, j.close)
	return j.report, err
}

// ForecastDispatch forecasts the disk space, memory and time that Dispatch will take. It writes no parts.
func ForecastDispatch(ctx context.Context, in, assignment, out string, o option.Dispatch) (_ *report.DispatchForecast, err error) {
	defer guard.Catch(&err)()
	j, err := prepareDispatch(&o, ctx, in, assignment, out, nil)
	if err != nil {
		return nil, err
	}
	f, err := j.forecast(ctx)
	return f, errors.Join(err, j.close())
}

// prepareDispatch opens the inputs of Dispatch.
func prepareDispatch(o *option.Dispatch, ctx context.Context, in, assignment, out string, c *Cluster) (_ *partsJob, err error) {
	start := time.Now()
	if err := errors.Join(operation.CheckRun(&o.Run), checkSend(&o.Send), checkParts(o, in, assignment), c.check(o)); err != nil {
		return nil, err
	}
	inputs := []string{in}
	if assignment != "" {
		inputs = append(inputs, assignment)
	}
	if err := operation.Keeps(out, inputs...); err != nil {
		return nil, err
	}
	j := &partsJob{run: &o.Run, parts: &o.DGLParts, out: out, report: operation.NewReport(&o.Run, "dispatch", "Parts of "+operation.GraphName(in)), start: start, cluster: c}
	if err := j.open(ctx, in, o.AllowOutside); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	defer guard.Catch(&err)()
	sums, err := assignParts(o, ctx, j, assignment)
	if err != nil {
		return nil, err
	}
	if o.NumParts != 0 && o.NumParts != j.assignment.Parts {
		return nil, operation.Usagef("found `NumParts` %d, expected %d as in %s; leave `NumParts` out, or divide the graph again", o.NumParts, j.assignment.Parts, assignment)
	}
	if j.opt, err = partsOptions(&o.DGLParts, j.name, j.assignment.Parts, &o.Run); err != nil {
		return nil, err
	}
	j.opt.Leaving = o.OutEdges
	j.made = store.Made{Command: "dispatch", Inputs: sums, Version: operation.Version(), Options: map[string]string{}}
	maps.Copy(j.made.Inputs, j.inputs)
	madeParts(&j.made, j.opt)
	return j, nil
}

// checkParts refuses an assignment that is missing, or given twice.
func checkParts(o *option.Dispatch, in, assignment string) error {
	switch {
	case assignment == "" && o.Parts == 0:
		return operation.Usagef("found no `Assignment`, expected the folder that has the part of each node; divide %s with graphmill partition first, or give `Parts` to divide the nodes by a hash", in)
	case assignment != "" && (o.Parts != 0 || o.PartsBy != ""):
		return operation.Usagef("found both `Assignment` and `Parts`, expected one of them")
	case o.Parts < 0 || o.Parts > assign.MaxParts:
		return operation.Usagef("found `Parts` %d, expected 1 to %d", o.Parts, assign.MaxParts)
	}
	operation.SetDefault(&o.PartsBy, option.MethodHash)
	if o.PartsBy != option.MethodHash && o.PartsBy != option.MethodRandom {
		return operation.Usagef("found `PartsBy` %q, expected hash or random; other methods need the edges: use graphmill partition", o.PartsBy)
	}
	return nil
}

// assignParts reads or draws the assignment, and returns the fingerprints of its files.
func assignParts(o *option.Dispatch, ctx context.Context, j *partsJob, dir string) (sums map[string]string, err error) {
	types, counts := operation.NodeCounts(j.store.Graph)
	if dir != "" {
		if j.assignment, err = assign.Read(ctx, vfs.OS, dir, types, counts); err != nil {
			return nil, err
		}
		return operation.AssignmentInputs(ctx, dir, "assignment/", j.assignment, j.report)
	}
	// The files that Partition writes are made for a while, because the output names their fingerprints.
	j.assignment = partition.Deal(string(o.PartsBy), types, counts, o.Parts, o.Seed)
	parent, base := filepath.Split(filepath.Clean(j.out))
	w, err := store.Create(vfs.OS, filepath.Join(parent, "."+base+".assignment"), true)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, w.Abort)
	if err := assign.Write(w, j.assignment); err != nil {
		return nil, err
	}
	return operation.AssignmentInputs(ctx, w.Dir(), "assignment/", j.assignment, j.report)
}

// PartitionGraph divides a graph and writes its parts to the folder out, as dgl.distributed.partition_graph does:
// Partition, then Dispatch with the halo that partition_graph keeps and the node data part_id.
func PartitionGraph(ctx context.Context, in, out string, o option.PartitionGraph) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	j, err := preparePartitionGraph(&o, ctx, in, out)
	if err != nil {
		return nil, err
	}
	err = j.write(ctx)
	operation.CloseAfter(&err, out, j.close)
	return j.report, err
}

// ForecastPartitionGraph divides a graph, and forecasts the disk space, memory and time that PartitionGraph will take to
// write its parts. It writes no parts.
func ForecastPartitionGraph(ctx context.Context, in, out string, o option.PartitionGraph) (_ *report.DispatchForecast, err error) {
	defer guard.Catch(&err)()
	j, err := preparePartitionGraph(&o, ctx, in, out)
	if err != nil {
		return nil, err
	}
	f, err := j.forecast(ctx)
	return f, errors.Join(err, j.close())
}

// preparePartitionGraph divides the graph.
func preparePartitionGraph(o *option.PartitionGraph, ctx context.Context, in, out string) (_ *partsJob, err error) {
	start := time.Now()
	if err := errors.Join(dividing.CheckPartition(&o.Partition), checkSend(&o.Send)); err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, dividing.PartitionInputs(&o.Partition, in)...); err != nil {
		return nil, err
	}
	if o.ReturnMapping {
		o.SaveOrigNids, o.SaveOrigEids = true, true
	}
	j := &partsJob{run: &o.Run, parts: &o.DGLParts, out: out, report: operation.NewReport(&o.Partition.Run, "partition-graph", "Parts of "+operation.GraphName(in)), start: start}
	if err := j.open(ctx, in, o.AllowOutside); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	defer guard.Catch(&err)()
	cut := dividing.PartitionOptions(&o.Partition)
	cut.Temp = filepath.Dir(filepath.Clean(out))
	if err := vfs.OS.MkdirAll(cut.Temp); err != nil {
		return nil, err
	}
	result, err := dividing.CutGraph(&o.Partition, cut, stageWrite, func(opt partition.Options) (*partition.Result, error) {
		return partition.Run(ctx, vfs.OS, j.store, opt)
	})
	if err != nil {
		return nil, err
	}
	j.assignment = result.Assignment
	if j.opt, err = partsOptions(&o.DGLParts, j.name, result.Assignment.Parts, &o.Run); err != nil {
		return nil, err
	}
	j.opt.PartIDs, j.opt.Leaving = true, !o.InEdgesOnly
	imported, err := dividing.ImportedAssignment(&o.Partition, ctx, result, j.report)
	if err != nil {
		return nil, err
	}
	j.made = dividing.MadePartition(&o.Partition, "partition-graph", result)
	maps.Copy(j.made.Inputs, j.inputs)
	maps.Copy(j.made.Inputs, imported)
	j.made.Options["return_mapping"] = strconv.FormatBool(o.ReturnMapping)
	madeParts(&j.made, j.opt)
	dividing.ReportCut(j.report, result)
	if o.ReturnMapping {
		j.finish = func(w *store.Writer) error {
			return dispatch.WriteMapping(ctx, vfs.OS, w, j.store.Graph, result.Assignment.Parts)
		}
	}
	return j, nil
}

// partsJob is a graph with an assignment, ready to be written as parts.
type partsJob struct {
	run    *option.Run
	parts  *option.DGLParts
	out    string
	report *report.Report
	start  time.Time

	store  *store.Store
	name   string            // of the graph
	inputs map[string]string // fingerprints
	close  func() error

	assignment *assign.Assignment
	opt        dispatch.Options
	made       store.Made
	finish     func(w *store.Writer) error // adds files to the output before it is sealed; nil: none
	cluster    *Cluster                    // nil: the parts are made here
}

// open opens a store, or imports a chunked graph into a temporary one.
func (j *partsJob) open(ctx context.Context, in string, outside bool) error {
	metadata := filepath.Join(in, dglchunks.File)
	if !dglchunks.IsMetadata(vfs.OS, metadata) {
		s, err := operation.OpenGraph(in)
		if err != nil {
			return err
		}
		if j.cluster != nil { // workers read the files
			err = s.OnePiece()
		}
		var sum string
		if err == nil {
			sum, err = operation.InputFolder(j.report, in)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		j.store, j.name, j.inputs, j.close = s, operation.GraphName(in), map[string]string{"store": sum}, s.Close
		return nil
	}
	if j.cluster != nil {
		return operation.Usagef("%s: found a graph in DGL's chunked format, expected a store, which workers read; import it first, or use graphmill dispatch", in)
	}
	m, err := dglchunks.Read(vfs.OS, metadata)
	if err != nil {
		return err
	}
	src, inputs, err := dividing.OpenDGLChunks(j.run, ctx, in, j.out, outside, j.report)
	if err != nil {
		return err
	}
	j.name, j.inputs = m.GraphName, inputs
	j.store, j.close, err = dividing.DglChunksStore(j.run, ctx, src, j.out, j.report)
	return err
}

// writer begins the output, or continues it.
func (j *partsJob) writer(ctx context.Context) (*store.Writer, error) {
	if !j.parts.Resume || j.cluster != nil { // the parts of a cluster are kept in the folder of the workers
		return store.Create(vfs.OS, j.out, j.run.Overwrite)
	}
	key, err := json.Marshal(j.made)
	if err != nil {
		return nil, err
	}
	// Another version may divide the graph differently with the same options.
	key = fmt.Appendf(key, " %s", j.assignmentSum())
	return store.Resume(ctx, vfs.OS, j.out, j.run.Overwrite, string(key), j.run.Threads)
}

// assignmentSum tells assignments apart.
func (j *partsJob) assignmentSum() string {
	return fmt.Sprintf("%016x %016x", xxh3.Hash(graph.Bytes(j.assignment.Part)), xxh3.Hash(graph.Bytes(j.assignment.Trainer)))
}

// forecast returns the forecast of writing the parts.
func (j *partsJob) forecast(ctx context.Context) (_ *report.DispatchForecast, err error) {
	// A forecast neither touches the parts of an interrupted run, nor minds an existing output.
	w, err := store.Create(vfs.OS, j.out+".forecast", j.run.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, w.Abort)
	plan, err := dispatch.Prepare(ctx, vfs.OS, j.store, j.assignment, w, j.opt)
	if err != nil {
		return nil, err
	}
	f := plan.Forecast()
	return &report.DispatchForecast{Bytes: f.Bytes, Memory: f.Memory, PartsAtOnce: f.PartsAtOnce, Seconds: f.Seconds}, plan.Close()
}

// write writes, seals, reports, publishes and sends parts.
func (j *partsJob) write(ctx context.Context) (err error) {
	var send *delivery
	if j.parts.Send.IPConfig != "" {
		if send, err = newDelivery(&j.parts.Send, j.out, j.run); err != nil {
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
	defer func() { err = j.ended(ctx, w, err) }()
	defer guard.Catch(&err)()
	if j.run.Memory > 0 {
		// Garbage counts as memory: return what reading the assignment left now, and let less of it accumulate later.
		debug.FreeOSMemory()
		defer operation.LessGarbage(20)()
	}
	if err := j.fill(ctx, w); err != nil {
		return err
	}
	err = operation.Publish(j.run, w, j.report, j.start)
	switch {
	case send == nil:
		return err
	case errors.Is(err, operation.ErrWhole):
		return fmt.Errorf("%w; the parts are not sent: %s", err, send.rest())
	case err != nil:
		return err
	}
	return send.sendNew(ctx, j.report, j.start)
}

// ended ends the output of a run that returns err. If finished parts are on the disk for a run that resumes, the error says
// so.
func (j *partsJob) ended(ctx context.Context, w *store.Writer, err error) error {
	if w.Published() {
		if j.cluster != nil {
			err = errors.Join(err, workfolder.RemoveAll(vfs.OS, operation.Worked(j.out)))
		}
		return w.End(err)
	}
	if err == nil {
		return w.End(nil)
	}
	kept, unknown := w.Resumable()
	dir := w.Dir()
	continues := operation.ErrResumable
	if j.cluster != nil {
		continues = operation.ErrContinues
		dir = operation.Worked(j.out)
		kept, unknown = j.keepsWork(dir)
		if !kept && unknown == nil {
			unknown = vfs.OS.RemoveAll(dir)
		}
	}
	if kept && !errors.Is(err, workfolder.ErrEarlier) {
		parts := fmt.Errorf("the parts that are finished are kept in %s, and %w", dir, continues)
		if operation.OnlyStopped(ctx, err) {
			err = parts
		} else {
			err = fmt.Errorf("%w; %w", err, parts)
		}
	}
	return w.End(errors.Join(err, unknown))
}

// keepsWork says whether the folder of the workers stays after a failure: it has finished parts, or a job may still work there.
func (j *partsJob) keepsWork(dir string) (bool, error) {
	n, err := cluster.Finished(vfs.OS, dir)
	busy, err2 := workfolder.Busy(vfs.OS, dir)
	return n > 0 || busy, errors.Join(err, err2)
}

// stageWrite is the stage of progress in which parts are written.
const stageWrite = "write parts"

// here writes the parts in this process.
func (j *partsJob) here(ctx context.Context, w *store.Writer) (result *dispatch.Report, forecast dispatch.Forecast, err error) {
	var line *operation.Meter
	j.opt.Progress = func(bytes int) { line.Add(int64(bytes)) }
	began := time.Now()
	plan, err := dispatch.Prepare(ctx, vfs.OS, j.store, j.assignment, w, j.opt)
	if err != nil {
		return nil, forecast, err
	}
	defer operation.CloseWith(&err, plan.Close)
	forecast = plan.Forecast()
	j.report.Stage("count", time.Since(began), 0, "")
	if forecast.Seconds > 10 {
		operation.Note(j.run, "forecast: %s on disk, %s of memory, about %s", human.Bytes(forecast.Bytes), human.Bytes(forecast.Memory), human.Duration(human.Seconds(forecast.Seconds)))
	}
	line = operation.NewMeter(j.run, stageWrite, forecast.Bytes, "bytes")
	defer line.End()
	counted := time.Now()
	if result, err = plan.Run(ctx); err == nil {
		j.report.Stage("write", time.Since(counted), result.Bytes, "bytes")
	}
	return result, forecast, err
}

// fill writes the parts and seals them.
func (j *partsJob) fill(ctx context.Context, w *store.Writer) (err error) {
	began := time.Now()
	var result *dispatch.Report
	var forecast dispatch.Forecast
	if j.cluster == nil {
		result, forecast, err = j.here(ctx, w)
	} else {
		result, err = j.elsewhere(ctx, w)
	}
	if err != nil {
		return err
	}
	written := time.Now()
	if j.finish != nil {
		if err := j.finish(w); err != nil {
			return err
		}
	}
	if err := w.WriteMade(j.made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, j.run.Threads); err != nil {
		return err
	}
	j.report.Stage("checksums", time.Since(written), 0, "")
	reportStored(j.run, j.report, result, forecast, time.Since(began))
	return nil
}

// IsParts reports whether a path leads to parts in DGL's distributed format: to their folder or their configuration file.
func IsParts(path string) (bool, error) {
	config, err := parts.Find(vfs.OS, path)
	return config != "", err
}
