package ingest

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/limits"
)

// labelled is a graph as graph databases export it: rows of nodes say their labels, and rows of edges their type and the ids of their ends,
// mostly without the labels of these. A set of labels is a node type; an edge type is a pair of node types and a type.
//
// The tables are read once or twice before they are imported: for the labels, and for the types of ids where the rows of edges do not say them. Two bytes per row of a table of several
// types, and 14 bytes per node of an id space of several types, are kept in memory (idTypes).
type labelled struct {
	o     Options
	path  string // of the source, for errors
	nodes []*labelledNodes
	edges []*labelledEdges
	types []*labelledType // in the order of their first rows
	rels  []*labelledRel  // edge types, in the order of their first rows
	ids   map[string]*idTypes
	notes []string
	// keyed says that an id is one within its type alone, as the key of a collection is.
	keyed bool
	// widths has those of lists that were looked for.
	widths map[listColumn]int
}

// labelledNodes is a table of nodes.
type labelledNodes struct {
	table.Table
	id string // the column of ids
	// label is the column of labels, and labelsOf cuts a cell of it. Empty: all rows have the type typ.
	label, typ string
	labelsOf   func(cell []byte) []string
	// text says that the table is one of text, which reads any cell as one text.
	text bool
	// space is the id space: ids of different spaces are different nodes.
	space string
	kinds []*labelledType // of the rows, by mark
	marks *views.Marks    // nil: all rows are of one type
	has   [][]bool        // by mark and field: some cell is not empty; nil: it is unknown
}

// labelledType is a node type.
type labelledType struct {
	name   string
	spaces []string
}

// labelledEdges is a table of edges.
type labelledEdges struct {
	table.Table
	src, dst string // the columns of the ends
	rel, typ string // the column of the types of edges; empty: all have the type typ
	text     bool   // as of nodes
	spaces   [2]string
	// labels are the columns of the labels of the ends, which labelsOf cuts; empty: the types are those of the ids.
	labels   [2]string
	labelsOf func(cell []byte) []string
	only     [2]string               // the types of the ends, where the space has one type
	found    []*labelledRel          // of the rows
	rows     map[string]*labelledRel // by what relOf says of a row
	has      map[*labelledRel][]bool
}

// labelledRel is an edge type.
type labelledRel struct {
	graph.EdgeType
	parts []*labelledEdges
}

// The columns of the tables that labelled makes. Names of columns have no control characters anywhere else.
const (
	labelledID   = "\x01id"
	labelledSrc  = "\x01src"
	labelledDst  = "\x01dst"
	labelledKind = "\x01type"
)

// source reads the labels and makes the source.
func (l *labelled) source(ctx context.Context) (*Source, error) {
	if l.o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of its files; leave it out", l.path)
	}
	if len(l.edges) == 0 || len(l.nodes) == 0 && slices.ContainsFunc(l.edges, func(e *labelledEdges) bool { return e.labels[0] == "" || e.labels[1] == "" }) {
		return nil, sourcef("%s: found %d tables of nodes and %d of edges, expected at least one of each; add the files", l.path, len(l.nodes), len(l.edges))
	}
	for _, n := range l.nodes {
		if err := l.readLabels(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := l.readIDs(ctx); err != nil {
		return nil, err
	}
	for _, e := range l.edges {
		if err := l.readRels(ctx, e); err != nil {
			return nil, err
		}
	}
	if err := l.checkEnds(ctx); err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In}
	m := &maker{gaps: newGaps(l.o)}
	for _, t := range l.types {
		n, err := l.nodesOf(ctx, m, t)
		if err != nil {
			return nil, err
		}
		s.Input.Nodes = append(s.Input.Nodes, n)
	}
	if err := l.addEdges(ctx, m, s); err != nil {
		return nil, err
	}
	for _, n := range l.nodes {
		s.use(n.Files())
		if n.marks != nil {
			s.Held += n.marks.Bytes()
		}
	}
	for _, e := range l.edges {
		s.use(e.Files())
	}
	for _, x := range l.ids {
		s.Held += x.bytes()
	}
	s.Warnings = append(l.notes, m.notes...)
	return s, m.check()
}

// use adds files that are read.
func (s *Source) use(files []string) {
	for _, f := range files {
		if !slices.Contains(s.Files, f) {
			s.Files = append(s.Files, f)
		}
	}
}

// labelSet is the node type of labels: their names in the order of bytes, joined by ';'. Nodes without labels are of the type that nodes of one type
// have.
func labelSet(labels []string) string {
	var set []string
	for _, name := range labels {
		if name = strings.TrimSpace(name); name != "" {
			set = append(set, name)
		}
	}
	slices.Sort(set)
	return typeName(strings.Join(slices.Compact(set), ";"), graph.HomogeneousNode)
}

// typeName is a name as that of a type, which has no ':' and no control character, and otherwise a default.
func typeName(name, otherwise string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name)
	return cmp.Or(plainNames([]string{name})[0], otherwise)
}

// cutLabels cuts labels that a sign separates.
func cutLabels(sign string) func(cell []byte) []string {
	return func(cell []byte) []string { return strings.Split(string(cell), sign) }
}

// checkLabels refuses labels that are the node type of other labels, or of none.
func checkLabels(place string, labels []string) error {
	for _, name := range labels {
		if name = strings.TrimSpace(name); strings.Contains(name, ";") {
			return sourcef("%s: found the label %.40q, expected one without ';', which joins several labels to a node type; rename the label", place, name)
		} else if name == graph.HomogeneousNode {
			return sourcef("%s: found the label %q, which is the node type of nodes without labels, expected another; rename the label", place, name)
		}
	}
	return nil
}

// typ returns the node type of a name, which ids of a space have.
func (l *labelled) typ(name, space string) (*labelledType, error) {
	i := slices.IndexFunc(l.types, func(t *labelledType) bool { return t.name == name })
	if i < 0 {
		if len(l.types) == limits.Names {
			return nil, sourcef("%s: found more than %d sets of labels, expected fewer, as each is a node type; write the labels as a property", l.path, limits.Names)
		}
		i = len(l.types)
		l.types = append(l.types, &labelledType{name: name})
	}
	t := l.types[i]
	if !slices.Contains(t.spaces, space) {
		t.spaces = append(t.spaces, space)
	}
	return t, nil
}

// properties are the fields of a table that are neither ids nor labels.
func properties(t table.Table, but ...string) (fields []table.Field) {
	for _, f := range t.Fields() {
		if !slices.Contains(but, f.Name) && !f.Ignored {
			fields = append(fields, f)
		}
	}
	return fields
}

func (n *labelledNodes) properties() []table.Field { return properties(n.Table, n.id, n.label) }
func (e *labelledEdges) properties() []table.Field {
	return properties(e.Table, e.src, e.dst, e.rel, e.labels[0], e.labels[1])
}

// marksOf are columns that say, for fields, whether their cells are empty, and the numbers of these fields. Tables of text read any cell as
// one text. Vectors and lists of other tables are not asked for, and count as values.
func marksOf(fields []table.Field, isText bool) (columns []table.Column, at []int) {
	for i, f := range fields {
		of := table.Column{Name: f.Name, DType: graph.String, Empty: table.EmptyFill}
		if !isText && len(f.Shape) > 0 {
			continue
		}
		if !isText && f.DType != graph.Invalid && f.DType != graph.String {
			of.DType, of.Unit, of.Fill = f.DType, f.Unit, "0"
		}
		at = append(at, i)
		columns = append(columns, table.Column{Name: f.Name + labelledKind, DType: graph.Bool, Missing: &of})
	}
	return columns, at
}

// spread puts what is known of some of the fields at their numbers; the others have values.
func spread(has []bool, at []int, fields int) []bool {
	out := make([]bool, fields)
	for i := range out {
		out[i] = !slices.Contains(at, i)
	}
	for i, x := range has {
		out[at[i]] = x
	}
	return out
}

// surveyed is a kind of rows that a scan has found.
type surveyed struct {
	text  string
	first uint64
	has   []bool
}

// survey collects kinds of rows, by several goroutines.
type survey struct {
	mu    sync.Mutex
	kinds []surveyed
	index map[string]int
}

// kind is the number of a kind of rows. mine has those that a goroutine knows already.
func (s *survey) kind(mine map[string]int, text []byte, row uint64, path string) (int, error) {
	if i, ok := mine[string(text)]; ok {
		return i, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[string(text)]
	if !ok {
		if i = len(s.kinds); i > 1<<16-2 {
			return 0, sourcef("%s: found more than %d kinds of rows by their labels, expected fewer; write the labels as a property", path, i)
		}
		s.index[string(text)] = i
		s.kinds = append(s.kinds, surveyed{text: string(text), first: row})
	}
	s.kinds[i].first = min(s.kinds[i].first, row)
	mine[string(text)] = i
	return i, nil
}

// add notes the fields that rows of the kinds have.
func (s *survey) add(has [][]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range has {
		if s.kinds[i].has == nil {
			s.kinds[i].has = make([]bool, len(h))
		}
		for k, x := range h {
			s.kinds[i].has[k] = s.kinds[i].has[k] || x
		}
	}
}

// order sorts the kinds by their first rows, and returns the new number of each.
func (s *survey) order() []int {
	to := make([]int, len(s.kinds))
	by := make([]int, len(s.kinds))
	for i := range by {
		by[i] = i
	}
	sort.Slice(by, func(i, k int) bool { return s.kinds[by[i]].first < s.kinds[by[k]].first })
	sorted := make([]surveyed, len(by))
	for i, old := range by {
		to[old], sorted[i] = i, s.kinds[old]
	}
	s.kinds = sorted
	return to
}

// surveyWorker is what one goroutine of a survey has found.
type surveyWorker struct {
	mine map[string]int
	has  [][]bool
	text []byte
}

// note notes which of the fields, whose marks begin at a column of a chunk, a row has.
func (w *surveyWorker) note(kind, row int, c *table.Chunk, from int) {
	for kind >= len(w.has) {
		w.has = append(w.has, nil)
	}
	if w.has[kind] == nil {
		w.has[kind] = make([]bool, len(c.Columns)-from)
	}
	for k := range w.has[kind] {
		if v := &c.Columns[from+k]; !w.has[kind][k] {
			w.has[kind][k] = v.Data[row] == 0
		}
	}
}

// readLabels finds the node types of a table.
func (l *labelled) readLabels(ctx context.Context, n *labelledNodes) error {
	if n.label == "" {
		t, err := l.typ(n.typ, n.space)
		n.kinds = []*labelledType{t}
		return err
	}
	fields := n.properties()
	marked, at := marksOf(fields, n.text)
	ask := append([]table.Column{{Name: n.label, DType: graph.String}}, marked...)
	s := &survey{index: map[string]int{}}
	var marks []uint16
	threads := max(l.o.Threads, 1)
	workers := make([]surveyWorker, threads)
	_, err := n.Scan(ctx, ask, threads, func(id int, c *table.Chunk) error {
		w := &workers[id]
		if w.mine == nil {
			w.mine = map[string]int{}
		}
		kinds := make([]uint16, c.Rows)
		for i, cell := range texts(&c.Columns[0]) {
			k, err := s.kind(w.mine, cell, c.First+uint64(i), l.path)
			if err != nil {
				return err
			}
			s.earlier(k, c.First+uint64(i), w)
			kinds[i] = uint16(k)
			w.note(k, i, c, 1)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if end := int(c.First) + c.Rows; end > len(marks) {
			marks = append(marks, make([]uint16, end-len(marks))...)
		}
		copy(marks[c.First:], kinds)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range workers {
		s.add(workers[i].has)
	}
	// Several texts are one set of labels.
	to := s.order()
	same := make([]int, len(s.kinds))
	for i, k := range s.kinds {
		labels := n.labelsOf([]byte(k.text))
		if err := checkLabels(n.Where(k.first, n.label), labels); err != nil {
			return err
		}
		t, err := l.typ(labelSet(labels), n.space)
		if err != nil {
			return err
		}
		local := slices.Index(n.kinds, t)
		if local < 0 {
			local = len(n.kinds)
			n.kinds, n.has = append(n.kinds, t), append(n.has, make([]bool, len(fields)))
		}
		same[i] = local
		for f, x := range spread(k.has, at, len(fields)) {
			n.has[local][f] = n.has[local][f] || x
		}
	}
	if len(n.kinds) == 0 { // a table without rows has no type
		return nil
	}
	if len(n.kinds) > 1 {
		for i, k := range marks {
			marks[i] = uint16(same[to[k]])
		}
		n.marks = views.NewMarks(marks, len(n.kinds))
	}
	return nil
}

// earlier notes a row of a kind that a goroutine knows already.
func (s *survey) earlier(kind int, row uint64, w *surveyWorker) {
	if kind < len(w.has) && w.has[kind] != nil {
		return // rows of a goroutine ascend
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[kind].first = min(s.kinds[kind].first, row)
}

// typesOf are the types of the nodes of an id space.
func (l *labelled) typesOf(space string) (list []*labelledType) {
	for _, t := range l.types {
		if slices.Contains(t.spaces, space) {
			list = append(list, t)
		}
	}
	return list
}
