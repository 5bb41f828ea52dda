package report

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Version of the JSON format, its "format".
const format = 1

// Report is what one command did. Set the fields that are known beforehand and
// fill the lists with the methods; what is empty is left out of the page.
type Report struct {
	Format int `json:"format"`
	// Command names the command without its flags: "import", "bench sample".
	Command string `json:"command"`
	// Title says what the page is about: "Debian package graph".
	Title string `json:"title"`
	// Line repeats the command, quoted for a shell.
	Line    string `json:"line"`
	Version string `json:"version"`

	// Of the run; 0 is unknown.
	Threads        int     `json:"threads,omitempty"`
	MemoryBudget   int64   `json:"memory_budget_bytes,omitempty"`
	PeakRSS        int64   `json:"peak_rss_bytes,omitempty"`
	ElapsedSeconds float64 `json:"elapsed_seconds,omitempty"`

	// Executor ran the plan of a sample, or would. Where it streamed: by which design, what
	// it read, in so many passes over the neighbours, and what was foretold.
	Executor  string    `json:"executor,omitempty"`
	Design    string    `json:"design,omitempty"`
	BytesRead *int64    `json:"bytes_read,omitempty"`
	Sweeps    *int64    `json:"sweeps,omitempty"`
	Forecast  *Forecast `json:"forecast,omitempty"`
	// Forecasts is what each executor and design would take.
	Forecasts []Forecast `json:"forecasts,omitempty"`

	Headline []Item         `json:"headline,omitempty"`
	Inputs   []Input        `json:"inputs,omitempty"`
	CameIn   []Item         `json:"in,omitempty"`
	WentOut  []Item         `json:"out,omitempty"`
	Notes    []Note         `json:"notes,omitempty"`
	Tables   []Table        `json:"tables,omitempty"`
	Plots    []Distribution `json:"plots,omitempty"`
	HeatMaps []HeatMap      `json:"heat_maps,omitempty"`
	Stages   []Stage        `json:"stages,omitempty"`
}

// Forecast is what a run is expected to take.
type Forecast struct {
	Executor string  `json:"executor,omitempty"`
	Design   string  `json:"design,omitempty"`
	Sweeps   int64   `json:"sweeps"`
	Bytes    int64   `json:"bytes_read"`
	Written  int64   `json:"scratch_bytes_written"`
	Memory   int64   `json:"memory_bytes"`
	Least    int64   `json:"least_memory_bytes,omitempty"` // that such a run can do with
	Seconds  float64 `json:"seconds"`
	Refused  string  `json:"refused,omitempty"` // why there can be no such run; nothing else is known then
}

// Item is a labelled value.
type Item struct {
	Label string `json:"label"`
	Value Value  `json:"value"`
}

// Input is a file or folder that the command read.
type Input struct {
	Name        string `json:"name"`
	Bytes       int64  `json:"bytes"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Note is a remark, or, with Count, a problem that was counted.
type Note struct {
	Warning bool   `json:"warning,omitempty"`
	Count   int64  `json:"count,omitempty"`
	Text    string `json:"text"`
}

// Table has one value a column in each row.
type Table struct {
	Title   string    `json:"title"`
	Columns []string  `json:"columns"`
	Rows    [][]Value `json:"rows"`
}

// Stage is a part of the run, in order; stages do not overlap. Count and Unit
// say what went through it: 67108864 "edges", or "bytes".
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count,omitempty"`
	Unit    string  `json:"unit,omitempty"`
}

// View is how a Distribution is drawn.
type View string

const (
	// CCDF draws the share of numbers that are at least x, both axes
	// logarithmic: for degrees, where a power law is a line.
	CCDF View = "ccdf"
	// Bins draws the share of numbers in each of equal bins, logarithmic where
	// the numbers span more than linear bins can show: for sizes.
	Bins View = "bins"
)

// Distribution is a plot of numbers: the in-degrees of each edge type, the nodes
// and edges of a subgraph.
type Distribution struct {
	Title string `json:"title"`
	// Of names what has the number, in plural: "nodes", "subgraphs".
	Of string `json:"of"`
	// What names the number: "in-degree", "size".
	What   string   `json:"what"`
	View   View     `json:"view"`
	Series []Series `json:"series"`
}

// Series is one line of a Distribution.
type Series struct {
	Name      string     `json:"name"`
	Histogram *Histogram `json:"histogram"`
}

// New makes the report of a command ("import") that was called as argv (the
// program first, as in os.Args; a path before its name is left out).
func New(command, title, version string, argv []string) *Report {
	return &Report{Format: format, Command: command, Title: title, Version: version, Line: quoteLine(argv)}
}

// Head adds one of the few numbers that stand at the top.
func (r *Report) Head(label string, v Value) { r.Headline = append(r.Headline, Item{label, v}) }

// Input names what was read, with its size and, where known, its fingerprint.
func (r *Report) Input(name string, bytes int64, fingerprint string) {
	r.Inputs = append(r.Inputs, Input{name, bytes, fingerprint})
}

// In adds a line to what came in.
func (r *Report) In(label string, v Value) { r.CameIn = append(r.CameIn, Item{label, v}) }

// Out adds a line to what went out.
func (r *Report) Out(label string, v Value) { r.WentOut = append(r.WentOut, Item{label, v}) }

// Note adds a remark.
func (r *Report) Note(text string) { r.Notes = append(r.Notes, Note{Text: text}) }

// Warn adds a counted problem, "dangling edges dropped"; nothing when n is 0.
func (r *Report) Warn(n int64, text string) {
	if n != 0 {
		r.Notes = append(r.Notes, Note{Warning: true, Count: n, Text: text})
	}
}

// Stage adds a part of the run: its time and what went through it ("bytes", or
// any plural; n 0 when nothing is counted).
func (r *Report) Stage(name string, d time.Duration, n int64, unit string) {
	if n == 0 {
		unit = ""
	}
	r.Stages = append(r.Stages, Stage{name, d.Seconds(), n, unit})
}

// Table adds a table.
func (r *Report) Table(t Table) { r.Tables = append(r.Tables, t) }

// Plot adds a plot. Its histograms belong to the report from now on.
func (r *Report) Plot(d Distribution) { r.Plots = append(r.Plots, d) }

// Finish sets the time that the command took and the memory it needed.
func (r *Report) Finish(elapsed time.Duration) {
	r.ElapsedSeconds = elapsed.Seconds()
	r.PeakRSS = PeakRSS()
}

// ErrInvalid is wrapped by errors about what a report says.
var ErrInvalid = errors.New("invalid report")

// check finds what the page could not show or JSON not hold.
func (r *Report) check() error {
	if r.Format != format {
		return fmt.Errorf("%w: found format %d, expected %d; use the version of graphmill that wrote it", ErrInvalid, r.Format, format)
	}
	if r.Threads < 0 || r.MemoryBudget < 0 || r.PeakRSS < 0 || !isTime(r.ElapsedSeconds) {
		return fmt.Errorf("%w: found a negative number of threads, bytes or seconds", ErrInvalid)
	}
	for _, list := range []struct {
		name  string
		items []Item
	}{{"headline", r.Headline}, {"in", r.CameIn}, {"out", r.WentOut}} {
		for i, it := range list.items {
			if err := it.Value.check(); err != nil {
				return fmt.Errorf("%w: %s %d (%q): %w", ErrInvalid, list.name, i, it.Label, err)
			}
		}
	}
	for i, in := range r.Inputs {
		if in.Bytes < 0 {
			return fmt.Errorf("%w: input %d (%q): found %d bytes, expected 0 or more", ErrInvalid, i, in.Name, in.Bytes)
		}
	}
	for i, t := range r.Tables {
		if err := t.check(); err != nil {
			return fmt.Errorf("%w: table %d (%q): %w", ErrInvalid, i, t.Title, err)
		}
	}
	for i, s := range r.Stages {
		if !isTime(s.Seconds) || s.Count < 0 {
			return fmt.Errorf("%w: stage %d (%q): found %v s and count %d, expected 0 or more", ErrInvalid, i, s.Name, s.Seconds, s.Count)
		}
	}
	for i, d := range r.Plots {
		if err := d.check(); err != nil {
			return fmt.Errorf("%w: plot %d (%q): %w", ErrInvalid, i, d.Title, err)
		}
	}
	for i := range r.HeatMaps {
		if err := r.HeatMaps[i].check(); err != nil {
			return fmt.Errorf("%w: heat map %d (%q): %w", ErrInvalid, i, r.HeatMaps[i].Title, err)
		}
	}
	return nil
}

func (t *Table) check() error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d: found %d values, expected %d, one a column", i, len(row), len(t.Columns))
		}
		for j, v := range row {
			if err := v.check(); err != nil {
				return fmt.Errorf("row %d, column %q: %w", i, t.Columns[j], err)
			}
		}
	}
	return nil
}

func (d *Distribution) check() error {
	if d.View != CCDF && d.View != Bins {
		return fmt.Errorf("found view %q, expected %q or %q", d.View, CCDF, Bins)
	}
	for i, s := range d.Series {
		if s.Histogram == nil {
			return fmt.Errorf("series %d (%q): found no histogram, expected one", i, s.Name)
		}
	}
	return nil
}

func isTime(s float64) bool { return s >= 0 && !math.IsInf(s, 0) }

// heading is the title, or the command where there is none.
func (r *Report) heading() string {
	if strings.TrimSpace(r.Title) != "" {
		return r.Title
	}
	return "graphmill " + r.Command
}
