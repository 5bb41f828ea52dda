package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"printable": human.Printable,
	"bytes":     human.Bytes,
	"exact":     human.Exact,
	"name":      breakable,
}).Parse(pageSource))

// breakable escapes a printable name and lets it wrap where its parts meet:
// package:depends:package.
func breakable(s string) template.HTML {
	var b strings.Builder
	from := 0
	for i, r := range s {
		if strings.ContainsRune(":/_-.", r) {
			b.WriteString(template.HTMLEscapeString(s[from:i+1]) + "<wbr>")
			from = i + 1
		}
	}
	b.WriteString(template.HTMLEscapeString(s[from:]))
	return template.HTML(b.String())
}

// HTML is the report as one page that needs nothing else; report.json lies beside it.
func (r *Report) HTML() ([]byte, error) { return r.html(true) }

// Page is HTML for a file of its own, without report.json.
func (r *Report) Page() ([]byte, error) { return r.html(false) }

func (r *Report) html(beside bool) ([]byte, error) {
	// Through JSON, so that the page shows what the file holds and nothing else.
	b, err := r.JSON()
	if err != nil {
		return nil, err
	}
	if r, err = FromJSON(b); err != nil {
		return nil, err
	}
	v := r.view()
	v.Beside = beside
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// pageView is what page.html fills in.
type pageView struct {
	*Report
	Heading  string
	Style    template.CSS
	Tiles    []tile
	Warnings []noteView
	Remarks  []noteView
	Columns  []itemList
	Sheets   []tableView
	Figures  []figure
	Times    *timesView
	Beside   bool // report.json lies beside the page
}

type tile struct{ Label, Value, Unit, Exact string }

type noteView struct{ Count, Exact, Text string }

// itemList is one of "came in" and "went out".
type itemList struct {
	ID, Title string
	Inputs    []Input
	Items     []itemView
}

type itemView struct {
	Label string
	cell
}

// cell is a value of a table.
type cell struct {
	Value, Unit, Exact string
	Numeric            bool
}

type tableView struct {
	ID, Title string
	Wide      bool // over the whole page
	Columns   []columnView
	Rows      [][]cell
}

type columnView struct {
	Name    string
	Numeric bool
}

// figure is a plot, how to read it, and its numbers.
type figure struct {
	ID, Title  string
	SVG        template.HTML
	Of         string
	WithZeros  bool
	Series     []seriesView
	Peaks      *tableView
	Wide       bool // over the whole page, with the table next to the plot
	Footnote   string
	NothingYet string
}

type seriesView struct {
	Name   string
	Swatch string
	Cells  []cell
}

type timesView struct {
	SVG  template.HTML
	Rows []stageView
}

type stageView struct {
	Name                string
	Time, Share, Amount cell
	Rate                cell
}

// viewOf leaves out a unit that the label says: "edges 31.2M".
func viewOf(label string, v Value) cell {
	s, unit := v.short()
	if v.Unit == label {
		unit = ""
	}
	return cell{s, unit, v.exact(), v.numeric()}
}

func (r *Report) view() *pageView {
	v := &pageView{Report: r, Heading: human.Printable(r.heading()), Style: template.CSS(pageStyle)}
	v.Tiles = r.tiles()
	for _, n := range r.Notes {
		nv := noteView{Text: human.Printable(n.Text)}
		if n.Count != 0 {
			nv.Count, nv.Exact = human.Count(n.Count), human.Exact(n.Count)
		}
		if n.Warning {
			v.Warnings = append(v.Warnings, nv)
		} else {
			v.Remarks = append(v.Remarks, nv)
		}
	}
	for _, l := range []itemList{
		{ID: "in", Title: "What came in", Inputs: r.Inputs, Items: itemViews(r.CameIn)},
		{ID: "out", Title: "What went out", Items: itemViews(r.WentOut)},
	} {
		if len(l.Inputs)+len(l.Items) > 0 {
			v.Columns = append(v.Columns, l)
		}
	}
	for i, t := range r.Tables {
		v.Sheets = append(v.Sheets, t.view(fmt.Sprintf("table-%d", i+1)))
	}
	for i, d := range r.Plots {
		v.Figures = append(v.Figures, d.figure(fmt.Sprintf("plot-%d", i+1)))
	}
	for i := range r.HeatMaps {
		v.Figures = append(v.Figures, r.HeatMaps[i].figure(fmt.Sprintf("heat-%d", i+1)))
	}
	pairUp(len(v.Sheets), func(i int) *bool { return &v.Sheets[i].Wide })
	pairUp(len(v.Figures), func(i int) *bool { return &v.Figures[i].Wide })
	if len(r.Stages) > 0 {
		v.Times = r.times()
	}
	return v
}

// pairUp makes every section wide that would stand alone in a row of two.
func pairUp(n int, wide func(int) *bool) {
	for i := 0; i < n; i++ {
		switch {
		case *wide(i):
		case i+1 < n && !*wide(i + 1):
			i++
		default:
			*wide(i) = true
		}
	}
}

func (r *Report) tiles() []tile {
	var tiles []tile
	add := func(label string, v Value) {
		c := viewOf(label, v)
		tiles = append(tiles, tile{human.Printable(label), c.Value, c.Unit, c.Exact})
	}
	for _, it := range r.Headline {
		add(it.Label, it.Value)
	}
	if r.ElapsedSeconds > 0 {
		s := r.ElapsedSeconds
		add("time", Value{Seconds: &s})
	}
	if r.PeakRSS > 0 {
		label := "peak memory"
		if r.MemoryBudget > 0 {
			label += " of " + human.Bytes(r.MemoryBudget)
		}
		add(label, Bytes(r.PeakRSS))
	}
	if r.Threads > 0 {
		add("threads", Count(r.Threads, ""))
	}
	return tiles
}

func itemViews(items []Item) []itemView {
	var out []itemView
	for _, it := range items {
		out = append(out, itemView{human.Printable(it.Label), viewOf(it.Label, it.Value)})
	}
	return out
}

func (t *Table) view(id string) tableView {
	v := tableView{ID: id, Title: human.Printable(t.Title), Wide: len(t.Columns) > 4}
	for j, name := range t.Columns {
		numeric := len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []Value) bool { return row[j].Text != nil })
		v.Columns = append(v.Columns, columnView{human.Printable(name), numeric})
	}
	for _, row := range t.Rows {
		var cells []cell
		for j, c := range row {
			cells = append(cells, viewOf(t.Columns[j], c))
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// roles gives a colour to the series with the most numbers, grey to the next,
// and none to the rest, which only their table tells.
func (d *Distribution) roles() []role {
	order := make([]int, 0, len(d.Series))
	for i, s := range d.Series {
		if h := s.Histogram; h.Count() > 0 && (d.View != CCDF || h.Max() > 0) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := d.Series[a].Histogram.Count(), d.Series[b].Histogram.Count()
		if x == y {
			return 0
		} else if x > y {
			return -1
		}
		return 1
	})
	roles := make([]role, len(d.Series))
	coloured := slices.Clone(order[:min(len(order), seriesColours)])
	slices.Sort(coloured)
	for k, i := range coloured {
		roles[i] = roleSeries0 + role(k)
	}
	for k, i := range order {
		if k >= seriesColours && k < linesDrawn {
			roles[i] = roleRest
		}
	}
	return roles
}

func (d *Distribution) figure(id string) figure {
	f := figure{ID: id, Title: human.Printable(d.Title), Of: human.Printable(d.Of), Wide: len(d.Series) > 4}
	roles := d.roles()
	if d.View == CCDF {
		f.SVG = d.drawCCDF(id, roles)
	} else {
		f.SVG = d.drawBins(id, roles)
	}
	if f.SVG == "" {
		f.NothingYet = "Nothing to draw: there is no number above 0."
	}
	grey, hidden := 0, 0
	for i, s := range d.Series {
		h := s.Histogram
		f.WithZeros = f.WithZeros || h.Zeros() > 0
		switch {
		case roles[i] == roleRest:
			grey++
		case roles[i] == roleNone && h.Count() > 0 && h.Max() > 0:
			hidden++
		}
	}
	if grey > 0 {
		f.Footnote = fmt.Sprintf("In colour: the %d with the most %s; grey: %d more.", seriesColours, f.Of, grey)
	}
	if hidden > 0 {
		f.Footnote += fmt.Sprintf(" Not drawn: %d.", hidden)
	}
	for i, s := range d.Series {
		f.Series = append(f.Series, seriesView{human.Printable(s.Name), roles[i].class(), s.cells(f.WithZeros)})
	}
	return f
}

func (s *Series) cells(zeros bool) []cell {
	h := s.Histogram
	num := func(n uint64) cell { return cell{human.CountU(n), "", human.ExactU(n), true} }
	cells := []cell{num(h.Count())}
	if zeros {
		share := 0.0
		if h.Count() > 0 {
			share = float64(h.Zeros()) / float64(h.Count())
		}
		cells = append(cells, cell{human.Percent(share), "", human.ExactU(h.Zeros()), true})
	}
	cells = append(cells, cell{human.Number(h.Mean()), "", fmt.Sprint(h.Mean()), true})
	for _, q := range []float64{0.5, 0.9, 0.99} {
		cells = append(cells, num(h.Quantile(q)))
	}
	return append(cells, num(h.Max()))
}

// label says for those who cannot see the plot what it shows.
func (d *Distribution) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s.", human.Printable(d.Title), human.Printable(d.What), human.Printable(d.Of))
	for i, s := range d.Series {
		if i == 3 && len(d.Series) > 4 {
			fmt.Fprintf(&b, " %d more in the table below.", len(d.Series)-i)
			break
		}
		h := s.Histogram
		fmt.Fprintf(&b, " %s: median %s, 99th percentile %s, largest %s.", human.Printable(s.Name),
			human.CountU(h.Quantile(0.5)), human.CountU(h.Quantile(0.99)), human.CountU(h.Max()))
	}
	return b.String()
}

func (r *Report) times() *timesView {
	total := 0.0
	for _, s := range r.Stages {
		total += s.Seconds
	}
	stages := r.Stages
	// What no stage accounts for is shown where it is more than rounding.
	if rest := r.ElapsedSeconds - total; total > 0 && rest > 0.01*r.ElapsedSeconds {
		stages = append(slices.Clone(stages), Stage{Name: "(outside the stages)", Seconds: rest})
		total = r.ElapsedSeconds
	}
	v := &timesView{}
	label := "Time per stage."
	for _, s := range stages {
		sv := stageView{Name: human.Printable(s.Name), Time: viewOf("", Value{Seconds: &s.Seconds})}
		label += fmt.Sprintf(" %s: %s.", sv.Name, sv.Time.Value)
		if total > 0 {
			sv.Share = viewOf("", Share(min(s.Seconds/total, 1)))
		}
		if s.Count > 0 {
			amount := Count(s.Count, s.Unit)
			if s.Unit == "bytes" {
				amount = Bytes(s.Count)
			}
			sv.Amount = viewOf("", amount)
			value, unit, _ := strings.Cut(human.Printable(s.rate()), " ")
			sv.Rate = cell{Value: value, Unit: unit, Numeric: true}
		}
		v.Rows = append(v.Rows, sv)
	}
	v.SVG = drawStages(stages[:min(len(stages), linesDrawn)], label)
	return v
}

func (s *Stage) rate() string {
	return human.Rate(s.Count, max(seconds(s.Seconds), time.Nanosecond), s.Unit)
}
