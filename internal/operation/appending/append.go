package appending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/querying"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Append adds the tables of source to the store in the folder dir, as a segment. The store gets a new version under its name in one step, whose other files are
// hard links to those of the version before; who has the store open keeps the version that it has. After an error the store is as it was.
func Append(ctx context.Context, dir, source string, o option.Append) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	switch {
	case o.Follow == fromInput:
	case o.Rows != 0:
		return nil, operation.Usagef("found `Rows` without `Follow` -, expected them together; leave it out")
	case o.Input != nil:
		return nil, operation.Usagef("found `Input` without `Follow` -, expected them together; leave it out")
	}
	if o.Change != "" {
		if source != "" || o.Drop != "" || o.Follow != "" || len(o.More) > 0 {
			return nil, operation.Usagef("found `Change` with other sources, expected it alone; change values first, and append in a second call")
		}
		source = o.Change
	}
	if o.Follow == "" {
		if o.Every != 0 {
			return nil, operation.Usagef("found `Every` without `Follow`, expected both; leave it out")
		}
		r, done, err := appendFrom(ctx, dir, source, o, taking{})
		if err == nil && !done.some {
			operation.Note(&o.Run, "%s", nothingNew)
		}
		if err == nil && done.due {
			err = compactAfter(ctx, dir, &o, r)
		}
		return r, err
	}
	if o.Every < 0 {
		return nil, operation.Usagef("found `Every` %s, expected a time of at least 0", o.Every)
	}
	if o.Follow == fromInput {
		return feedLines(ctx, dir, source, o)
	}
	if source != "" || o.Drop != "" || len(o.More) > 0 {
		return nil, operation.Usagef("found a source or `Drop` with `Follow`, expected the folder that is followed alone; leave the others out")
	}
	return follow(ctx, dir, o)
}

// appended says what an append did: whether there was anything new, and whether a compaction is due that the options ask for.
type appended struct{ some, due bool }

// taking says how an append takes its source.
type taking struct {
	root string    // names of inputs are those below this folder; "": below the source
	rows *lineRows // of lines, in place of the tables of the source; nil: there are none
}

// appendFrom is Append of one source.
func appendFrom(ctx context.Context, dir, source string, o option.Append, how taking) (_ *report.Report, done appended, err error) {
	start := time.Now()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, done, err
	}
	if o.Overwrite {
		return nil, done, operation.Usagef("found `Overwrite`, expected it for a new folder: an append replaces the store in any case; leave it out")
	}
	a := &appending{o: &o, start: start, taking: how}
	if err := a.open(dir, o.Drop != ""); err != nil {
		return nil, done, err
	}
	defer func() { operation.CloseAfter(&err, dir, a.store.Close) }()
	if err := a.checkStore(); err != nil {
		return nil, done, err
	}
	options, err := a.reading()
	if err != nil {
		return nil, done, err
	}
	ctx = table.Bound(ctx, o.Memory, o.Threads)
	taken := a.store.Meta.History().LastMarks()
	queries := &querying.Queries{Out: dir, Overwrite: true, Append: true, After: taken}
	if !a.changes() {
		options.Query, options.Marks = queries.Read, taken
		defer operation.CloseAfter(&err, dir, queries.Close)
		defer func() { err = queries.Places.In(err) }()
	}
	src := &ingest.Source{}
	switch {
	case source != "":
		if src, err = ingest.Open(ctx, vfs.OS, source, options); err != nil {
			if errors.Is(err, ingest.ErrUsage) {
				return nil, done, operation.Usagef("%w", err)
			}
			return nil, done, err
		}
	case o.Drop == "":
		return nil, done, operation.Usagef("found no source and no `Drop`, expected one of them; give the tables to add")
	}
	if source != "" {
		defer operation.CloseAfter(&err, dir, src.Close)
	}
	if a.changes() && len(src.Input.Edges) > 0 {
		if err := a.store.Close(); err != nil {
			return nil, done, err
		}
		if err := a.open(dir, true); err != nil {
			return nil, done, err
		}
	}
	a.report = operation.NewReport(&o.Run, "append", operation.Titled(dir))
	if err := keepInputs(a.report, dir); err != nil {
		return nil, done, err
	}
	queries.Report(a.report)
	for _, what := range src.Lakes {
		a.report.Note("made from " + what)
	}
	for _, text := range append(queries.Warnings(), src.Warnings...) {
		text = queries.Text(text)
		operation.Warn(&o.Run, "%s", text)
		a.report.Note(text)
	}
	if err := a.splitRules(src); err != nil {
		return nil, done, err
	}
	if err := a.fit(src); err != nil {
		return nil, done, err
	}
	if len(a.ruled) > 0 {
		a.report.Note("new rows get their parts by the splits of the store: " + strings.Join(slices.Sorted(maps.Keys(a.ruled)), ", "))
	}
	a.made.Inputs = map[string]string{}
	if source != "" {
		name, err := operation.Below(cmp.Or(a.root, source))
		if err != nil {
			return nil, done, err
		}
		name = a.rows.input(name)
		if a.changes() {
			below := name
			name = func(file string) string { return changePrefix + below(file) }
		}
		if a.made.Inputs, err = operation.Fingerprints(ctx, vfs.OS, src.Files, a.report, queries.Inputs(name)); err != nil {
			return nil, done, err
		}
	}
	a.held = src.Held + a.store.Merged()
	a.made.Command, a.made.Version, a.made.Options = "append", operation.Version(), map[string]string{"format": src.Format}
	queries.Made(&a.made)
	if !a.changes() {
		for t, mark := range src.Marks {
			a.made.Mark(t, mark)
		}
	}
	for t, mark := range src.Taken {
		a.made.Mark(t, mark)
	}
	if a.rows != nil {
		a.made.Marks, a.made.Options[report.OptionLines] = a.rows.marks, "true"
	}
	if len(o.Missing) > 0 {
		a.made.Options["missing"] = strings.Join(o.Missing, ",")
	}
	if err := src.Collect(ctx, o.Threads, o.Memory/4, false); err != nil { // categories
		return nil, done, err
	}
	a.addCategories()
	a.report.Stage("open", time.Since(start), 0, "")
	if err = a.write(ctx, &src.Input); errors.Is(err, errNothing) {
		a.report.Note(nothingNew)
		return a.report, done, nil
	}
	return a.report, appended{err == nil, a.due}, err
}

// errNothing ends an append that has nothing to add, of which nothingNew tells.
var errNothing = errors.New("nothing new")

const nothingNew = "the tables have nothing new, so the store stays as it was"

// seenBefore refuses tables that are all among those that the store was made of, and warns of others that are. Files that describe tables do not count.
func (a *appending) seenBefore() error {
	where := map[string]string{}
	made := a.store.Meta.History()
	for i, inputs := range append([]map[string]string{made.Inputs}, made.AppendedInputs()...) {
		of := "the import"
		if i > 0 {
			of = fmt.Sprintf("append %d", i)
		}
		for _, name := range slices.Sorted(maps.Keys(inputs)) {
			where[inputs[name]] = name + " of " + of
		}
	}
	tables := 0
	var seen []string
	for _, name := range slices.Sorted(maps.Keys(a.made.Inputs)) {
		if slices.Contains([]string{".yaml", ".yml", ".json", ".pbtxt"}, filepath.Ext(name)) {
			continue
		}
		if strings.HasPrefix(name, querying.InputPrefix) || strings.HasPrefix(strings.TrimPrefix(name, dropPrefix), linesPrefix) { // its mark says what is new, or their places do
			continue
		}
		if strings.HasPrefix(strings.TrimPrefix(name, dropPrefix), givenPrefix) { // a caller who gives the same rows again means it
			continue
		}
		tables++
		if before := where[a.made.Inputs[name]]; before != "" {
			seen = append(seen, fmt.Sprintf("%s has the bytes of %s", name, before))
		}
	}
	switch {
	case len(seen) == 0:
		return nil
	case len(seen) == tables:
		return fmt.Errorf("found tables that the store has already: %s; expected new ones; leave them out", strings.Join(seen, ", "))
	}
	for _, text := range seen {
		operation.Warn(&a.o.Run, "%s: its rows are added again", text)
		a.report.Note(text)
	}
	return nil
}

// givenPrefix begins the names of inputs that are columns of tables in the memory of a caller, as the Python client writes them.
const givenPrefix = "rows of "

// appending is a run of Append.
type appending struct {
	taking
	o      *option.Append
	store  *store.Store
	sum    string // of the version that is opened
	start  time.Time
	report *report.Report
	made   store.Made
	held   int64 // memory that the store and the tables take
	// features are applied to the new rows; nil: the store has none.
	features *features.File
	growing  []growing // columns of categories
	// rules are those of the store's splits, by type, and ruled those by which the rows of tables get their parts.
	rules, ruled map[string]*transform.Rule
	due          bool // a compaction is due, which the options ask for
}

// open opens the store, with all segments that it has, and with the lists of edges if their places count.
func (a *appending) open(dir string, lists bool) error {
	open := store.OpenOutline
	if lists {
		open = openAll
	}
	s, sum, err := openStore(dir, open)
	if err != nil {
		return err
	}
	a.store, a.sum = s, sum
	return nil
}

// openAll opens a store with all its segments.
func openAll(fsys vfs.FS, dir string) (*store.Store, error) { return store.OpenMerged(fsys, dir, -1) }

// keepInputs makes the inputs of the last report of a folder those of a new one, which adds its own.
func keepInputs(r *report.Report, dir string) error {
	old, err := operation.ReadReport(dir)
	switch {
	case errors.Is(err, operation.ErrNoReport):
		return nil
	case err != nil:
		return err
	}
	r.Inputs = old.Inputs
	return nil
}

// openStore opens a store of one graph on this machine, and returns its checksum.
func openStore(dir string, open func(fsys vfs.FS, dir string) (*store.Store, error)) (s *store.Store, sum string, err error) {
	if vfs.Scheme(dir) != "" {
		return nil, "", operation.Usagef("%s: found a store in an object store, expected one on this machine, whose files can be shared by two versions; copy it here, and then to its place again", dir)
	}
	if sum, err = store.Sum(vfs.OS, dir); err != nil && !vfs.Absent(err) {
		return nil, "", err
	}
	if s, err = open(vfs.OS, dir); err != nil {
		return nil, "", err
	}
	if s.Graph == nil {
		return nil, "", errors.Join(operation.Usagef("%s: found a collection, expected a store; import the new graphs to another collection", dir), s.Close())
	}
	return s, sum, nil
}

// checkStore refuses stores whose import looked at all rows at once.
func (a *appending) checkStore() error {
	made := a.store.Meta.Made
	for _, x := range []struct{ option, allowed, what string }{
		{"duplicate_edges", "keep", "looked for equal edges among all of them"}, {"self_loops", "keep drop error", "added the self-loops that no edge has"},
		{"homogeneous", "false", "made one type of all, whose numbers follow from all nodes"}, {"dangling_edges", "error drop", "added nodes after all others"},
		{"largest_component", "", "kept the largest component of all edges"}, {"normalise", "", "divided the columns of all rows"},
	} {
		if v := made.Options[x.option]; v != "" && !slices.Contains(strings.Fields(x.allowed), v) {
			return fmt.Errorf("%s: found a store whose import %s, expected one whose rows each count alone, because a segment has only the new rows; import all tables again", a.store.Dir, x.what)
		}
	}
	if len(made.Amended) > 0 {
		return fmt.Errorf("%s: found a store whose columns were changed after its import, expected its tables to have all columns; import all tables again", a.store.Dir)
	}
	file, err := features.ReadFile(vfs.OS, a.store.Dir)
	if err != nil {
		return err
	}
	a.features = file
	return a.checkFeatures()
}

// reading are the options by which the tables are read.
func (a *appending) reading() (ingest.Options, error) {
	o := a.o
	s := ingest.Options{Format: o.Format, More: o.More, Columns: o.Columns, Src: o.Src, Dst: o.Dst, SrcType: o.SrcType, DstType: o.DstType, Vectors: o.Vectors, Outside: o.AllowOutside, NodesAlone: true,
		Symmetrise: a.store.Meta.Made.Options["symmetrise"] == "true", Temp: filepath.Dir(filepath.Clean(a.store.Dir)), Threads: o.Threads}
	if a.rows != nil {
		s.Lines = a.rows.files
	}
	err := operation.ReadTables(&s, o.IDs, o.Delimiter, o.ArrayDelimiter, o.Missing)
	return s, err
}

// write writes the segment and publishes the new version.
func (a *appending) write(ctx context.Context, in *assemble.Input) (err error) {
	w, copied, err := store.Amend(ctx, vfs.OS, a.store.Dir, a.sum, func(string) bool { return false })
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	b := &building{appending: a, w: w, dir: filepath.Join(w.Dir(), "new"), in: in}
	defer operation.CloseWith(&err, b.close)
	write := b.addSegment
	if a.changes() {
		write = b.changeSegment
	}
	meta, err := write(ctx)
	if err != nil {
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	if copied > 0 {
		a.report.Note(fmt.Sprintf("the file system has no hard links, so %d bytes of the store were copied", copied))
	}
	sealing := time.Now()
	if err := w.Seal(ctx, meta, a.o.Threads); err != nil {
		return err
	}
	s, err := store.OpenOutline(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	m, err := store.ReadManifest(vfs.OS, w.Dir())
	if err == nil {
		a.describe(s, m, len(meta.Segments), len(meta.Segments))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	a.report.Stage("checksums", time.Since(sealing), 0, "")
	if err := operation.OnDisk(a.report, w.Dir()); err != nil {
		return err
	}
	if a.rows != nil {
		a.rows.tidy(a.report)
	}
	before, err := store.ReadHistory(vfs.OS, a.store.Dir)
	if err != nil {
		return err
	}
	if err := writeHistory(w, before, len(meta.Segments)); err != nil {
		return err
	}
	return operation.Publish(&a.o.Run, w, a.report, a.start)
}

// describe reports what the segments from first to number added.
func (a *appending) describe(s *store.Store, m *store.Manifest, first, number int) {
	r := a.report
	nodes, edges := 0, 0
	changedNodes, changedEdges := 0, 0
	changes, adds := false, false
	of := map[string]int{}
	for _, last := range s.Meta.Segments[first-1 : number] {
		for name, n := range last.Nodes {
			nodes += n.Count
			of["nodes "+name] += n.Count
		}
		for name, e := range last.Edges {
			edges += e.Count
			of["edges "+name] += e.Count
		}
		for name, n := range last.ChangedNodes {
			changedNodes += n
			of["nodes "+name] += n
		}
		for name, n := range last.ChangedEdges {
			changedEdges += n
			of["edges "+name] += n
		}
		changed := len(last.ChangedNodes)+len(last.ChangedEdges) > 0
		changes, adds = changes || changed, adds || !changed
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		unit, _, _ := strings.Cut(name, " ")
		r.Out(name, report.Count(of[name], unit))
	}
	r.Head("segment", report.Count(number, "segments"))
	if changes || a.changes() {
		r.Head("changed nodes", report.Count(changedNodes, "changed nodes"))
		r.Head("changed edges", report.Count(changedEdges, "changed edges"))
	}
	if adds && !a.changes() {
		r.Head("new nodes", report.Count(nodes, "nodes"))
		r.Head("new edges", report.Count(edges, "edges"))
	}
	later, all := 0, 0
	for _, x := range s.Added() {
		later += x.Edges
	}
	for _, e := range s.Graph.Edges {
		all += e.Count
	}
	laterBytes, allBytes := int64(0), int64(0)
	for name, f := range m.Files {
		allBytes += f.Bytes
		if store.SegmentOf(name) > 0 {
			laterBytes += f.Bytes
		}
	}
	half := later > all/2 && all >= manyEdges || laterBytes > allBytes/2 && allBytes >= manyBytes
	a.due = a.o.Compact && (half || number >= compactedSegments)
	if !a.o.Compact && (half || number >= mostSegments) {
		text := fmt.Sprintf("the store has %d %s with %s of its %s edges, and %s of its %s: graphmill compact makes it one piece", number, human.Things(int64(number), "segments"), human.Exact(int64(later)), human.Exact(int64(all)),
			human.Bytes(laterBytes), human.Bytes(allBytes))
		operation.Note(&a.o.Run, "%s", text)
		r.Note(text)
	}
}

// mostSegments is the number of segments from which on an append notes that a compaction is due, and compactedSegments the number at which Compact makes one: it writes the
// whole store, so 365 appends of a hundredth of the first piece each then write 5 times what they add. At 16 segments it would be 18 times.
const (
	mostSegments      = 16
	compactedSegments = 64
)

// manyEdges and manyBytes are the numbers of edges and bytes from which on the share of those in segments matters.
const (
	manyEdges = 1 << 20
	manyBytes = 64 << 20
)

// edgesOf are the edges of a type in the store, nil for none.
func (a *appending) edgesOf(t graph.EdgeType) *graph.Edges {
	for _, e := range a.store.Graph.Edges {
		if e.Type == t {
			return e
		}
	}
	return nil
}

// primary is the direction by which edges of new types are stored: the one of the other types.
func (a *appending) primary() graph.Direction {
	for _, e := range a.store.Graph.Edges {
		return e.Primary
	}
	d, _ := graph.ParseDirection(cmp.Or(a.store.Meta.Made.Options["primary"], "in")) // one of both
	return d
}

// isDropped says whether the import of the store drops the rows that break a rule.
func (a *appending) isDropped(rule string) bool {
	return a.store.Meta.Made.Options[rule] == string(option.PolicyDrop)
}

// idText is an id for an error.
func idText(id []byte, dtype graph.DType) string {
	if dtype == graph.String {
		return strconv.Quote(string(id))
	}
	return fmt.Sprint(integerOf(id))
}
