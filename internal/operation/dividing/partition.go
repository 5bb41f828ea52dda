package dividing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/cluster"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// CheckPartition refuses options that contradict each other, and fills in defaults.
func CheckPartition(o *option.Partition) error {
	if o.Method == "" {
		o.Method = option.MethodMultilevel
		if o.Import != "" {
			o.Method = option.MethodImport
		}
	}
	if o.Imbalance == nil {
		o.Imbalance = []float64{1.03}
	}
	operation.SetDefault(&o.TrainersPerMachine, 1)
	switch {
	case o.TrainersPerMachine < 1:
		return operation.Usagef("found `TrainersPerMachine` %d, expected at least 1", o.TrainersPerMachine)
	case o.Parts == 0 && o.Method != option.MethodImport:
		return operation.Usagef("found no `Parts`, expected the number of parts, such as `Parts` 8")
	case !slices.Contains([]option.Preset{"", option.PresetFast, option.PresetDefault, option.PresetHigh}, o.Preset):
		return operation.Usagef("found `Preset` %q, expected fast, default or high", o.Preset)
	case !slices.Contains([]option.Objective{"", option.ObjectiveCut, option.ObjectiveVol}, o.Objective):
		return operation.Usagef("found `Objective` %q, expected cut or vol", o.Objective)
	case o.Preset != "" && o.Method != option.MethodMultilevel:
		return operation.Usagef("found `Preset` with `Method` %s, expected it only with multilevel; leave it out", o.Method)
	case o.Objective != "" && o.Method != option.MethodMultilevel:
		return operation.Usagef("found `Objective` with `Method` %s, expected it only with multilevel; leave it out", o.Method)
	}
	operation.SetDefault(&o.Preset, option.PresetDefault)
	operation.SetDefault(&o.Objective, option.ObjectiveCut)
	return operation.CheckRun(&o.Run)
}

// PartitionOptions converts the options for package partition.
func PartitionOptions(o *option.Partition) partition.Options {
	return partition.Options{
		Parts: o.Parts, Method: string(o.Method), Preset: multilevel.Preset(o.Preset), Objective: multilevel.Objective(o.Objective), Imbalance: o.Imbalance,
		Balance:  partition.Balance{Edges: o.BalanceEdges, TypesTogether: o.TypesTogether, Columns: o.BalanceColumn},
		Trainers: o.TrainersPerMachine, Passes: o.Passes, Import: o.Import, Seed: o.Seed, Threads: o.Threads, Memory: o.Memory,
	}
}

// MadePartition returns the options that determine the assignment. The method is the one that was used.
func MadePartition(o *option.Partition, command string, r *partition.Result) store.Made {
	m := store.Made{Command: command, Seed: &o.Seed, Law: draw.Version, Version: operation.Version(), Inputs: map[string]string{}, Options: map[string]string{
		"method": r.Method, "parts": strconv.Itoa(r.Assignment.Parts), "imbalance": joinFloats(o.Imbalance), "trainers_per_machine": strconv.Itoa(o.TrainersPerMachine),
		"balance_edges": strconv.FormatBool(o.BalanceEdges), "balance_types": strconv.FormatBool(!o.TypesTogether), "balance_column": strings.Join(o.BalanceColumn, ",")}}
	switch r.Method {
	case partition.Multilevel:
		m.Options["preset"], m.Options["objective"] = string(o.Preset), string(o.Objective)
		if r.OutOfCore != nil {
			m.Options["out_of_core_memory"] = strconv.FormatInt(o.Memory, 10)
		}
	case partition.Ranges:
		if r.Ranges.OutOfCore != nil {
			m.Options["out_of_core_memory"] = strconv.FormatInt(o.Memory, 10)
		}
	case partition.Fennel:
		m.Options["passes"] = strconv.Itoa(r.Passes)
	}
	return m
}

func joinFloats(list []float64) string {
	var s []string
	for _, x := range list {
		s = append(s, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(s, ",")
}

// Partition assigns each node of a graph to a part, so that the parts are balanced and few edges run between them. It
// writes <node type>.txt (line i has the part of node i) and partition_meta.json to the folder out, for Dispatch and DGL's
// tools. The graph is a store, a graph in DGL's chunked format, or a METIS file. For a METIS file out may be "": the
// assignment is then written next to it as GRAPH.graph.part.K, as gpmetis writes it. c is nil for a run in this process.
func Partition(ctx context.Context, in, out string, o option.Partition, c *Cluster) (_ *report.Division, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := c.check(in, &o); err != nil {
		return nil, err
	}
	if err := CheckPartition(&o); err != nil {
		return nil, err
	}
	p := &partitioning{cluster: c, o: &o, in: in, out: out, report: operation.NewReport(&o.Run, "partition", "Parts of "+operation.GraphName(in)), start: start}
	file, err := isMETIS(in)
	if err != nil {
		return nil, err
	}
	if file && out == "" {
		return p.metisFile(ctx)
	}
	if err := operation.Keeps(out, PartitionInputs(&o, in)...); err != nil {
		return nil, err
	}
	if p.w, err = store.Create(vfs.OS, out, o.Overwrite); err != nil {
		return nil, err
	}
	defer func() { err = p.finished(ctx, err) }()
	if file {
		return p.metis(ctx)
	}
	return p.graph(ctx)
}

// partitioning is a run of Partition.
type partitioning struct {
	o       *option.Partition
	in, out string
	w       *store.Writer
	report  *report.Report
	start   time.Time
	divided time.Time // when the division was there
	cluster *Cluster  // nil: in this process
	run     *cluster.Run
}

// PartitionInputs are the paths that a division reads.
func PartitionInputs(o *option.Partition, in string) []string {
	if o.Import != "" {
		return []string{in, o.Import}
	}
	return []string{in}
}

// isMETIS reports whether a path names a METIS file. A folder with such a name is a store.
func isMETIS(path string) (bool, error) {
	if !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".graph") {
		return false, nil
	}
	info, err := vfs.OS.Stat(path)
	return err == nil && !info.IsDir(), err
}

// graph divides a store or a chunked graph.
func (p *partitioning) graph(ctx context.Context) (*report.Division, error) {
	opt := PartitionOptions(p.o)
	opt.Temp = p.w.Dir()
	s, inputs, end, err := p.open(ctx, &opt)
	if err != nil {
		return nil, err
	}
	if p.cluster != nil {
		run, ended, err := p.elsewhere(p.cluster, s, inputs["graph"])
		if err != nil {
			return nil, errors.Join(err, end())
		}
		defer ended()
		p.run, opt.Elsewhere = run, run
	}
	result, err := CutGraph(p.o, opt, "", func(opt partition.Options) (*partition.Result, error) { return partition.Run(ctx, vfs.OS, s, opt) })
	p.divided = time.Now()
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	made := MadePartition(p.o, "partition", result)
	made.Inputs = inputs
	return p.write(ctx, result, made)
}

// writingWork is the time in which parts are written, relative to that in which the neighbours of the nodes are listed.
const writingWork = 2

// CutGraph divides the nodes of a graph with run, and reports progress. It notes a forecast if the division takes long. The stage
// writing, which comes after it, writes the parts; "" if none does.
func CutGraph(o *option.Partition, opt partition.Options, writing string, run func(partition.Options) (*partition.Result, error)) (*partition.Result, error) {
	// The graph is most of the heap. By default the garbage collector waits until the heap has doubled, which may exceed
	// the budget, so it runs earlier here.
	defer operation.LessGarbage(10)()
	stages := operation.NewStages(&o.Run)
	opt.Progress = stages.Update
	opt.Foretold = func(f partition.Forecast) {
		if !f.Unknown {
			work := []progress.Stage{{Name: partition.StageGraph, Work: f.Reading}, {Name: partition.StageDivide, Work: f.Seconds - f.Reading}}
			if writing != "" {
				work = append(work, progress.Stage{Name: writing, Work: f.Reading * writingWork})
			}
			operation.Foresee(&o.Run, work)
		} else {
			operation.Note(&o.Run, "forecast: at most %s of memory and %s of temporary files, whose rows are read seven times or more; the time out of core is not known, because it depends on the levels that the graph needs", human.Bytes(f.Memory), human.Bytes(f.Disk))
		}
		if f.Seconds > 10 {
			rough := ""
			if f.Rough {
				rough = " (the time of multilevel depends on the graph: it may be several times as long)"
			}
			operation.Note(&o.Run, "forecast: %s of memory, %s of temporary files, about %s%s", human.Bytes(f.Memory), human.Bytes(f.Disk), human.Duration(human.Seconds(f.Seconds)), rough)
		}
	}
	var result *partition.Result
	err := guard.Do(func() (err error) {
		result, err = run(opt)
		return err
	})
	stages.End()
	if err != nil {
		return nil, cutError(err)
	}
	for _, note := range result.Notes {
		operation.Warn(&o.Run, "%s", note)
	}
	return result, nil
}

// cutError turns an error of package partition into a usage error if the options cause it.
func cutError(err error) error {
	if errors.Is(err, partition.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	return err
}

// open opens a store, or imports the needed parts of a chunked graph into a temporary store. end closes the store, and
// removes it if it is temporary.
func (p *partitioning) open(ctx context.Context, opt *partition.Options) (_ *store.Store, inputs map[string]string, end func() error, _ error) {
	if dglchunks.IsMetadata(vfs.OS, filepath.Join(p.in, dglchunks.File)) {
		return p.importDGLChunks(ctx, opt)
	}
	s, err := operation.OpenGraph(p.in)
	if err != nil {
		return nil, nil, nil, err
	}
	sum, err := operation.InputFolder(p.report, p.in)
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	p.report.Stage("open", time.Since(p.start), 0, "")
	return s, map[string]string{"graph": sum}, s.Close, nil
}

// importDGLChunks imports a chunked graph into a temporary store: its edges, and the columns that are balanced.
func (p *partitioning) importDGLChunks(ctx context.Context, opt *partition.Options) (_ *store.Store, inputs map[string]string, end func() error, err error) {
	src, inputs, err := OpenDGLChunks(&p.o.Run, ctx, p.in, p.out, p.o.AllowOutside, p.report)
	if err != nil {
		return nil, nil, nil, err
	}
	p.report.Stage("open", time.Since(p.start), 0, "")
	opt.ImportOrder = nil
	var known []string
	for i := range src.Input.Nodes {
		n := &src.Input.Nodes[i]
		opt.ImportOrder = append(opt.ImportOrder, n.Type)
		for _, c := range n.Columns {
			known = append(known, n.Type+"/"+c.Name)
		}
		n.Columns = slices.DeleteFunc(slices.Clone(n.Columns), func(c table.Column) bool {
			return !slices.Contains(p.o.BalanceColumn, c.Name) && !slices.Contains(p.o.BalanceColumn, n.Type+"/"+c.Name)
		})
	}
	for _, name := range p.o.BalanceColumn {
		if !slices.ContainsFunc(known, func(full string) bool { return full == name || strings.HasSuffix(full, "/"+name) }) {
			return nil, nil, nil, operation.Usagef("%s: found no column %q of nodes, expected one of %s; name one of these, or import the column", p.in, name, strings.Join(known, ", "))
		}
	}
	for i := range src.Input.Edges {
		src.Input.Edges[i].Columns = nil
	}
	s, end, err := DglChunksStore(&p.o.Run, ctx, src, filepath.Join(opt.Temp, "graph"), p.report)
	if err != nil {
		return nil, nil, nil, err
	}
	s.Dir = p.in // the name that the user knows
	return s, inputs, end, nil
}

// OpenDGLChunks opens a graph in DGL's chunked format; inputs are the fingerprints of its files.
func OpenDGLChunks(o *option.Run, ctx context.Context, in, out string, outside bool, r *report.Report) (src *ingest.Source, inputs map[string]string, err error) {
	if src, err = ingest.Open(ctx, vfs.OS, in, ingest.Options{Format: "chunked", Outside: outside}); err != nil {
		return nil, nil, err
	}
	for _, w := range src.Warnings {
		operation.Warn(o, "%s", w)
		r.Note(w)
	}
	if err := operation.Keeps(out, src.Files...); err != nil {
		return nil, nil, err
	}
	names, err := operation.Below(in)
	if err == nil {
		inputs, err = operation.Fingerprints(ctx, vfs.OS, src.Files, r, names)
	}
	return src, inputs, err
}

// DglChunksStore imports a chunked graph into a temporary store next to out. end closes and removes it.
func DglChunksStore(o *option.Run, ctx context.Context, src *ingest.Source, out string, r *report.Report) (*store.Store, func() error, error) {
	began := time.Now()
	s, _, end, err := importing.BuildTemporary(o, ctx, src, out, assemble.Options{Primary: graph.In, Threads: o.Threads, Memory: o.Memory,
		DanglingEdges: assemble.Error, DuplicateNodes: assemble.Error, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
	if err != nil {
		return nil, nil, err
	}
	r.Stage("import", time.Since(began), 0, "")
	return s, end, nil
}

// write writes an assignment, and publishes it.
func (p *partitioning) write(ctx context.Context, result *partition.Result, made store.Made) (*report.Division, error) {
	imported, err := ImportedAssignment(p.o, ctx, result, p.report)
	if err != nil {
		return nil, err
	}
	maps.Copy(made.Inputs, imported)
	if err := assign.Write(p.w, result.Assignment); err != nil {
		return nil, err
	}
	if err := p.w.WriteMade(made); err != nil {
		return nil, err
	}
	if err := p.w.Seal(ctx, nil, p.o.Threads); err != nil {
		return nil, err
	}
	ReportCut(p.report, result)
	tellGaps(&p.o.Run, p.report, result)
	p.report.Stage("write", time.Since(p.divided), int64(result.Nodes), "nodes")
	if err := operation.Publish(&p.o.Run, p.w, p.report, p.start); err != nil {
		return nil, err
	}
	d := newDivision(result, time.Since(p.start))
	d.Output = p.w.Out()
	return d, nil
}

// ImportedAssignment returns the fingerprints of an imported assignment: of its file, or of the files in its folder.
func ImportedAssignment(o *option.Partition, ctx context.Context, result *partition.Result, r *report.Report) (map[string]string, error) {
	if o.Import == "" {
		return nil, nil
	}
	if info, err := vfs.OS.Stat(o.Import); err != nil {
		return nil, err
	} else if info.IsDir() {
		return operation.AssignmentInputs(ctx, o.Import, "import/", result.Assignment, r)
	}
	return operation.Fingerprints(ctx, vfs.OS, []string{o.Import}, r, func(file string) string { return "import/" + filepath.Base(file) })
}

// metis divides the graph of a METIS file.
func (p *partitioning) metis(ctx context.Context) (*report.Division, error) {
	result, err := p.divide(ctx)
	if err != nil {
		return nil, err
	}
	p.divided = time.Now()
	made := MadePartition(p.o, "partition", result)
	if made.Inputs, err = operation.Fingerprints(ctx, vfs.OS, []string{p.in}, p.report, filepath.Base); err != nil {
		return nil, err
	}
	return p.write(ctx, result, made)
}

// metisFile divides the graph of a METIS file, and writes the assignment to the file that gpmetis writes.
func (p *partitioning) metisFile(ctx context.Context) (*report.Division, error) {
	if p.o.TrainersPerMachine > 1 {
		return nil, operation.Usagef("found `TrainersPerMachine` without `Out`, expected both: a file in the form of gpmetis has no place for trainers; give `Out`")
	}
	result, err := p.divide(ctx)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := assign.WriteLines(&b, result.Assignment.Part); err != nil {
		return nil, err
	}
	// As gpmetis does, replace the file of an earlier run.
	name := fmt.Sprintf("%s.part.%d", strings.TrimSuffix(p.in, ".gz"), result.Assignment.Parts)
	if err := vfs.WriteFile(vfs.OS, name, b.Bytes()); err != nil {
		return nil, err
	}
	d := newDivision(result, time.Since(p.start))
	d.Output = name
	return d, nil
}

// divide divides the graph of a METIS file.
func (p *partitioning) divide(ctx context.Context) (*partition.Result, error) {
	o := PartitionOptions(p.o)
	if o.Temp = filepath.Dir(p.in); p.w != nil {
		o.Temp = p.w.Dir()
	}
	return CutGraph(p.o, o, "", func(opt partition.Options) (*partition.Result, error) {
		return partition.File(ctx, vfs.OS, p.in, graph.HomogeneousNode, opt)
	})
}
