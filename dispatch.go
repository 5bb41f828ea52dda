package graphmill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/report"
)

// PartsOptions say how the parts of a graph are written for DGL.
type PartsOptions struct {
	// GraphName is the name of the graph and of its configuration file; "" is the name of the input.
	GraphName string
	// NumHops is the number of hops that the halo of a part reaches, 1 to 8; 0 is 1, the in-edges of the part's own nodes.
	// See NoHops for zero hops.
	NumHops int
	// GraphFormats lists the sparse formats in which a part is stored: "coo", "csc", "csr", separated by commas; "" is
	// "coo,csc".
	GraphFormats string
	// SaveOrigNids and SaveOrigEids write the original ids of nodes and edges: part<p>/orig_nids.dgl, orig_eids.dgl.
	SaveOrigNids, SaveOrigEids bool
	// PartsAtOnce bounds the number of parts that are made at a time; 0 is as many as fit the memory, and with Resume at most
	// a quarter of the parts.
	PartsAtOnce int
	// Resume keeps the finished parts if the run is interrupted, and continues an earlier run that was interrupted.
	Resume bool

	// Send says where the parts go over SFTP. The zero value sends nothing.
	Send SendOptions
}

// NoHops is the NumHops of parts whose configuration says halo_hops 0. They still hold the in-edges of their own nodes.
const NoHops = -1

// options converts the options for package dispatch. name is the name of the graph if the options give none.
func (o *PartsOptions) options(name string, parts int, run *Run) (opt dispatch.Options, err error) {
	if o.GraphName != "" {
		name = o.GraphName
	}
	if err := dispatch.CheckGraphName(name); err != nil {
		return opt, usagef("%w", err)
	}
	if o.NumHops < NoHops || o.NumHops > 8 {
		return opt, usagef("found `NumHops` %d, expected 0 to 8", o.NumHops)
	}
	if o.PartsAtOnce < 0 {
		return opt, usagef("found `PartsAtOnce` %d, expected at least 1", o.PartsAtOnce)
	}
	setDefault(&o.NumHops, 1)
	setDefault(&o.GraphFormats, "coo,csc")
	opt = dispatch.Options{GraphName: name, Hops: max(o.NumHops, 0), OriginalNodes: o.SaveOrigNids, OriginalEdges: o.SaveOrigEids,
		Threads: run.Threads, Memory: run.Memory, PartsAtOnce: o.PartsAtOnce}
	if o.Resume && o.PartsAtOnce == 0 {
		opt.PartsAtOnce = (parts + 3) / 4
	}
	if opt.Formats, err = dgl.ParseFormats(o.GraphFormats); err != nil {
		return opt, usagef("`GraphFormats`: %w", err)
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

// DispatchOptions say how a graph with an assignment is written as parts.
type DispatchOptions struct {
	Run
	PartsOptions
	// OutEdges adds the edges that leave the part to the halo, as DGL's partition_graph does. NumHops must be at least 1.
	OutEdges bool
	// NumParts is the number of parts that the assignment must have; 0 accepts any.
	NumParts int
	// AllowOutside lets the metadata of a chunked graph name files outside its folder.
	AllowOutside bool

	// Parts divides the nodes into this number of parts, without an assignment, by PartsBy and the random seed Seed. The
	// parts equal the result of Partition with the same method and seed.
	Parts int
	// PartsBy is MethodHash or MethodRandom, which do not look at edges; "" is MethodHash.
	PartsBy Method
	Seed    uint64

	// Cluster makes the parts on the workers of a cluster; nil makes them in this process. The bytes are the same.
	Cluster *DispatchCluster
}

// PartitionGraphOptions say how a graph is divided and written as parts in one step.
type PartitionGraphOptions struct {
	PartitionOptions
	PartsOptions
	// InEdgesOnly keeps the edges that leave a part out of its halo.
	InEdgesOnly bool
	// ReturnMapping also writes the original ids of nodes and edges that partition_graph returns: one .npy file per type.
	ReturnMapping bool
}

// DispatchForecast is the forecast of a run of Dispatch.
type DispatchForecast struct {
	Bytes       int64   `json:"bytes"`         // size of the parts on disk, in bytes
	Memory      int64   `json:"memory_bytes"`  // peak memory of the process, in bytes
	PartsAtOnce int     `json:"parts_at_once"` // parts made at a time
	Seconds     float64 `json:"seconds"`       // elapsed time
}

// Text writes the forecast in words.
func (f *DispatchForecast) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s on disk, %s of memory, about %s, %d parts at once\n", human.Bytes(f.Bytes), human.Bytes(f.Memory), human.Duration(seconds(f.Seconds)), f.PartsAtOnce)
	return err
}

// Dispatch writes the parts of a graph to the folder out in DGL's distributed format: GRAPH_NAME.json, metadata.json,
// and for each part graph.dgl, node_feat.dgl and edge_feat.dgl. The graph in is a store or a graph in DGL's chunked
// format. The assignment is the folder that Partition wrote, or any folder with a file <node type>.txt per node type; with
// DispatchOptions.Parts it is "". The bytes depend neither on Threads nor on Memory. If a run with Resume stops early, its error is ErrResumable.
func Dispatch(ctx context.Context, in, assignment, out string, o DispatchOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	j, err := o.prepare(ctx, in, assignment, out)
	if err != nil {
		return nil, err
	}
	err = j.write(ctx)
	closeAfter(&err, out, j.close)
	return j.report, err
}

// ForecastDispatch forecasts the disk space, memory and time that Dispatch will take. It writes no parts.
func ForecastDispatch(ctx context.Context, in, assignment, out string, o DispatchOptions) (_ *DispatchForecast, err error) {
	defer guard.Catch(&err)()
	j, err := o.prepare(ctx, in, assignment, out)
	if err != nil {
		return nil, err
	}
	f, err := j.forecast(ctx)
	return f, errors.Join(err, j.close())
}

// prepare opens the inputs of Dispatch.
func (o *DispatchOptions) prepare(ctx context.Context, in, assignment, out string) (_ *partsJob, err error) {
	start := time.Now()
	if err := errors.Join(o.Run.check(), o.Send.check(), o.checkParts(in, assignment), o.Cluster.check(o)); err != nil {
		return nil, err
	}
	inputs := []string{in}
	if assignment != "" {
		inputs = append(inputs, assignment)
	}
	if err := keeps(out, inputs...); err != nil {
		return nil, err
	}
	j := &partsJob{run: &o.Run, parts: &o.PartsOptions, out: out, report: o.begin("dispatch", "Parts of "+graphName(in)), start: start, cluster: o.Cluster}
	if err := j.open(ctx, in, o.AllowOutside); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	defer guard.Catch(&err)()
	sums, err := o.assign(ctx, j, assignment)
	if err != nil {
		return nil, err
	}
	if o.NumParts != 0 && o.NumParts != j.assignment.Parts {
		return nil, usagef("found `NumParts` %d, expected %d as in %s; leave `NumParts` out, or divide the graph again", o.NumParts, j.assignment.Parts, assignment)
	}
	if j.opt, err = o.options(j.name, j.assignment.Parts, &o.Run); err != nil {
		return nil, err
	}
	j.opt.Leaving = o.OutEdges
	j.made = store.Made{Command: "dispatch", Inputs: sums, Version: Version(), Options: map[string]string{}}
	maps.Copy(j.made.Inputs, j.inputs)
	madeParts(&j.made, j.opt)
	return j, nil
}

// checkParts refuses an assignment that is missing, or given twice.
func (o *DispatchOptions) checkParts(in, assignment string) error {
	switch {
	case assignment == "" && o.Parts == 0:
		return usagef("found no `Assignment`, expected the folder that has the part of each node; divide %s with graphmill partition first, or give `Parts` to divide the nodes by a hash", in)
	case assignment != "" && (o.Parts != 0 || o.PartsBy != ""):
		return usagef("found both `Assignment` and `Parts`, expected one of them")
	case o.Parts < 0 || o.Parts > assign.MaxParts:
		return usagef("found `Parts` %d, expected 1 to %d", o.Parts, assign.MaxParts)
	}
	setDefault(&o.PartsBy, MethodHash)
	if o.PartsBy != MethodHash && o.PartsBy != MethodRandom {
		return usagef("found `PartsBy` %q, expected hash or random; other methods need the edges: use graphmill partition", o.PartsBy)
	}
	return nil
}

// assign reads or draws the assignment, and returns the fingerprints of its files.
func (o *DispatchOptions) assign(ctx context.Context, j *partsJob, dir string) (sums map[string]string, err error) {
	types, counts := nodeCounts(j.store.Graph)
	if dir != "" {
		if j.assignment, err = assign.Read(ctx, vfs.OS, dir, types, counts); err != nil {
			return nil, err
		}
		return assignmentInputs(ctx, dir, "assignment/", j.assignment, j.report)
	}
	// The files that Partition writes are made for a while, because the output names their fingerprints.
	j.assignment = partition.Deal(string(o.PartsBy), types, counts, o.Parts, o.Seed)
	parent, base := filepath.Split(filepath.Clean(j.out))
	w, err := store.Create(vfs.OS, filepath.Join(parent, "."+base+".assignment"), true)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, w.Abort)
	if err := assign.Write(w, j.assignment); err != nil {
		return nil, err
	}
	return assignmentInputs(ctx, w.Dir(), "assignment/", j.assignment, j.report)
}

// PartitionGraph divides a graph and writes its parts to the folder out, as dgl.distributed.partition_graph does:
// Partition, then Dispatch with the halo that partition_graph keeps and the node data part_id.
func PartitionGraph(ctx context.Context, in, out string, o PartitionGraphOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	j, err := o.prepare(ctx, in, out)
	if err != nil {
		return nil, err
	}
	err = j.write(ctx)
	closeAfter(&err, out, j.close)
	return j.report, err
}

// ForecastPartitionGraph divides a graph, and forecasts the disk space, memory and time that PartitionGraph will take to
// write its parts. It writes no parts.
func ForecastPartitionGraph(ctx context.Context, in, out string, o PartitionGraphOptions) (_ *DispatchForecast, err error) {
	defer guard.Catch(&err)()
	j, err := o.prepare(ctx, in, out)
	if err != nil {
		return nil, err
	}
	f, err := j.forecast(ctx)
	return f, errors.Join(err, j.close())
}

// prepare divides the graph.
func (o *PartitionGraphOptions) prepare(ctx context.Context, in, out string) (_ *partsJob, err error) {
	start := time.Now()
	if err := errors.Join(o.PartitionOptions.check(), o.Send.check()); err != nil {
		return nil, err
	}
	p := &partitioning{o: &o.PartitionOptions, in: in, out: out}
	if err := keeps(out, p.inputs()...); err != nil {
		return nil, err
	}
	if o.ReturnMapping {
		o.SaveOrigNids, o.SaveOrigEids = true, true
	}
	j := &partsJob{run: &o.Run, parts: &o.PartsOptions, out: out, report: o.begin("partition-graph", "Parts of "+graphName(in)), start: start}
	if err := j.open(ctx, in, o.AllowOutside); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	defer guard.Catch(&err)()
	cut := o.PartitionOptions.options()
	cut.Temp = filepath.Dir(filepath.Clean(out))
	if err := vfs.OS.MkdirAll(cut.Temp); err != nil {
		return nil, err
	}
	result, err := o.cut(cut, stageWrite, func(opt partition.Options) (*partition.Result, error) {
		return partition.Run(ctx, vfs.OS, j.store, opt)
	})
	if err != nil {
		return nil, err
	}
	j.assignment = result.Assignment
	if j.opt, err = o.PartsOptions.options(j.name, result.Assignment.Parts, &o.Run); err != nil {
		return nil, err
	}
	j.opt.PartIDs, j.opt.Leaving = true, !o.InEdgesOnly
	imported, err := o.imported(ctx, result, j.report)
	if err != nil {
		return nil, err
	}
	j.made = o.made("partition-graph", result)
	maps.Copy(j.made.Inputs, j.inputs)
	maps.Copy(j.made.Inputs, imported)
	j.made.Options["return_mapping"] = strconv.FormatBool(o.ReturnMapping)
	madeParts(&j.made, j.opt)
	reportCut(j.report, result)
	if o.ReturnMapping {
		j.finish = func(w *store.Writer) error {
			return dispatch.WriteMapping(ctx, vfs.OS, w, j.store.Graph, result.Assignment.Parts)
		}
	}
	return j, nil
}

// nodeCounts returns the node types of a graph and the number of nodes of each.
func nodeCounts(g *graph.Graph) (types []string, counts []uint64) {
	for _, n := range g.Nodes {
		types, counts = append(types, n.Type), append(counts, uint64(n.Count))
	}
	return types, counts
}

// partsJob is a graph with an assignment, ready to be written as parts.
type partsJob struct {
	run    *Run
	parts  *PartsOptions
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
	cluster    *DispatchCluster            // nil: the parts are made here
}

// open opens a store, or imports a chunked graph into a temporary one.
func (j *partsJob) open(ctx context.Context, in string, outside bool) error {
	metadata := filepath.Join(in, dglchunks.File)
	if !dglchunks.IsMetadata(vfs.OS, metadata) {
		s, err := openGraph(in)
		if err != nil {
			return err
		}
		sum, err := inputFolder(j.report, in)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		j.store, j.name, j.inputs, j.close = s.store, graphName(in), map[string]string{"store": sum}, s.Close
		return nil
	}
	if j.cluster != nil {
		return usagef("%s: found a graph in DGL's chunked format, expected a store, which workers read; import it first, or use graphmill dispatch", in)
	}
	m, err := dglchunks.Read(vfs.OS, metadata)
	if err != nil {
		return err
	}
	src, inputs, err := j.run.openDGLChunks(ctx, in, j.out, outside, j.report)
	if err != nil {
		return err
	}
	j.name, j.inputs = m.GraphName, inputs
	j.store, j.close, err = j.run.dglChunksStore(ctx, src, j.out, j.report)
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
func (j *partsJob) forecast(ctx context.Context) (_ *DispatchForecast, err error) {
	// A forecast neither touches the parts of an interrupted run, nor minds an existing output.
	w, err := store.Create(vfs.OS, j.out+".forecast", j.run.Overwrite)
	if err != nil {
		return nil, err
	}
	defer closeWith(&err, w.Abort)
	plan, err := dispatch.Prepare(ctx, vfs.OS, j.store, j.assignment, w, j.opt)
	if err != nil {
		return nil, err
	}
	f := plan.Forecast()
	return &DispatchForecast{f.Bytes, f.Memory, f.PartsAtOnce, f.Seconds}, plan.Close()
}

// write writes, seals, reports, publishes and sends parts.
func (j *partsJob) write(ctx context.Context) (err error) {
	var send *delivery
	if j.parts.Send.IPConfig != "" {
		if send, err = j.parts.Send.delivery(j.out, j.run); err != nil {
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
		defer debug.SetGCPercent(debug.SetGCPercent(20))
	}
	if err := j.fill(ctx, w); err != nil {
		return err
	}
	err = j.run.publish(w, j.report, j.start)
	switch {
	case send == nil:
		return err
	case errors.Is(err, ErrWhole):
		return fmt.Errorf("%w; the parts are not sent: %s", err, send.rest())
	case err != nil:
		return err
	}
	return send.sendNew(ctx, j.report, j.start)
}

// ended ends the output of a run that returns err. If finished parts are on the disk for a run that resumes, the error says
// so.
func (j *partsJob) ended(ctx context.Context, w *store.Writer, err error) error {
	if err == nil || w.Published() {
		return w.End(err)
	}
	kept, unknown := w.Resumable()
	dir := w.Dir()
	if j.cluster != nil {
		dir = worked(j.out)
		kept, unknown = j.keepsWork(dir)
		if !kept && unknown == nil {
			unknown = vfs.OS.RemoveAll(dir)
		}
	}
	if kept && !errors.Is(err, workfolder.ErrEarlier) {
		parts := fmt.Errorf("the parts that are finished are kept in %s, and %w", dir, ErrResumable)
		if onlyStopped(ctx, err) {
			err = parts
		} else {
			err = fmt.Errorf("%w; %w", err, parts)
		}
	}
	return w.End(errors.Join(err, unknown))
}

// keepsWork says whether the folder of the workers stays after a failure: it has finished parts, a job may still work there, or the
// run may resume, with a copy of the store.
func (j *partsJob) keepsWork(dir string) (bool, error) {
	n, err := cluster.Finished(vfs.OS, dir)
	busy, err2 := workfolder.Busy(vfs.OS, dir)
	return n > 0 || busy || j.parts.Resume && exists(dir), errors.Join(err, err2)
}

// stageWrite is the stage of progress in which parts are written.
const stageWrite = "write parts"

// here writes the parts in this process.
func (j *partsJob) here(ctx context.Context, w *store.Writer) (result *dispatch.Report, forecast dispatch.Forecast, err error) {
	var line *meter
	j.opt.Progress = func(bytes int) { line.add(int64(bytes)) }
	began := time.Now()
	plan, err := dispatch.Prepare(ctx, vfs.OS, j.store, j.assignment, w, j.opt)
	if err != nil {
		return nil, forecast, err
	}
	defer closeWith(&err, plan.Close)
	forecast = plan.Forecast()
	j.report.Stage("count", time.Since(began), 0, "")
	if forecast.Seconds > 10 {
		j.run.note("forecast: %s on disk, %s of memory, about %s", human.Bytes(forecast.Bytes), human.Bytes(forecast.Memory), human.Duration(seconds(forecast.Seconds)))
	}
	line = j.run.meter(stageWrite, forecast.Bytes, "bytes")
	defer line.end()
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
	j.run.reportStored(j.report, result, forecast, time.Since(began))
	return nil
}

// IsParts reports whether a path leads to parts in DGL's distributed format: to their folder or their configuration file.
func IsParts(path string) (bool, error) {
	config, err := parts.Find(vfs.OS, path)
	return config != "", err
}
