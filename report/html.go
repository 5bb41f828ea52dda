package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

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
	"find":      findAttribute,
}).Parse(pageSource))

// breakable escapes a printable name and allows line breaks between its parts, as in package:depends:package.
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

// HTML returns the report as a page that links to report.json in the same folder.
func (r *Report) HTML() ([]byte, error) { return r.html(true) }

// Page returns the report as a page without the link to report.json.
func (r *Report) Page() ([]byte, error) { return r.html(false) }

func (r *Report) html(beside bool) ([]byte, error) {
	// The page is made from JSON, so that it shows exactly the contents of the file.
	b, err := r.JSON()
	if err != nil {
		return nil, err
	}
	if r, err = Parse(b); err != nil {
		return nil, err
	}
	v := r.view()
	v.Beside = beside
	if find := v.hasLong(); find {
		v.Script, v.Policy = findScript, policy(true)
	} else {
		v.Policy = policy(false)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// pageView is the data of page.html.
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
	// ProfileHead names the numbers of the rows of ProfileRows.
	ProfileHead []string
	ProfileRows []profileView
	Times       *timesView
	Beside      bool // report.json is in the folder of the page
	Policy      string
	Script      template.JS // "": none
}

type tile struct{ Label, Value, Unit, Exact string }

type noteView struct{ Count, Exact, Text string }

// itemList is the section of inputs or of outputs.
type itemList struct {
	ID, Title string
	Wide      bool // as wide as the page
	Inputs    []input
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
	Wide      bool // as wide as the page
	Columns   []columnView
	Rows      [][]cell
}

type columnView struct {
	Name    string
	Numeric bool
}

// figure is a plot with its numbers.
type figure struct {
	ID, Title string
	SVG       template.HTML
	Series    []seriesView // rows of the table of the plot
	// SeriesTitle says what is in the table, and SeriesHead has the names of its columns after the name of the series.
	SeriesTitle string
	SeriesHead  []string
	Peaks       *tableView
	Wide        bool // as wide as the page, with the table next to the plot
	Footnote    string
	NothingYet  string
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

// viewOf leaves out a unit that is the same as the label: "edges 31.2M".
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
		{ID: "in", Title: "Input", Inputs: r.Inputs, Items: itemViews(r.InItems)},
		{ID: "out", Title: "Output", Items: itemViews(r.OutItems)},
	} {
		if len(l.Inputs)+len(l.Items) > 0 {
			v.Columns = append(v.Columns, l)
		}
	}
	if len(v.Columns) == 1 || len(v.Columns) == 2 && v.Columns[0].rows() > v.Columns[1].rows()+unevenRows {
		for i := range v.Columns {
			v.Columns[i].Wide = true
		}
	}
	for i, t := range r.Tables {
		v.Sheets = append(v.Sheets, t.view(fmt.Sprintf("table-%d", i+1)))
	}
	v.ProfileHead, v.ProfileRows = profileHead, profileViews(r.Profiles)
	for i := range r.Pictures {
		v.Figures = append(v.Figures, r.Pictures[i].figure(fmt.Sprintf("picture-%d", i+1)))
		v.Style = template.CSS(pageStyle + pictureStyle)
	}
	for i, d := range r.Plots {
		v.Figures = append(v.Figures, d.figure(fmt.Sprintf("plot-%d", i+1)))
	}
	for i := range r.Bars {
		v.Figures = append(v.Figures, r.Bars[i].figure(fmt.Sprintf("bars-%d", i+1)))
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

// unevenRows is how many more rows the inputs can have than the outputs to stand beside them.
const unevenRows = 6

func (l *itemList) rows() int { return len(l.Inputs) + len(l.Items) }

// pairUp makes each section wide that would be alone in a row of two.
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

func itemViews(items []item) []itemView {
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
