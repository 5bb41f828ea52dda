package report

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
)

// Format is the version of the JSON form of a Report.
const Format = 1

// Report describes what one command did. Set the fields that are known at the start, and fill the lists with the
// methods. The page leaves out empty fields and lists.
type Report struct {
	Format int `json:"format"`
	// Command names the command without its flags: "import", "bench sample".
	Command string `json:"command"`
	// Title names the subject of the page: "Debian package graph".
	Title string `json:"title"`
	// Line repeats the command, quoted for a shell.
	Line    string `json:"line"`
	Version string `json:"version"`
	// Output is the folder that the operation wrote, as it was named; "" in the report.json of the folder.
	Output string `json:"output,omitempty"`
	// Next is what a person may do with the output now, as a command for a shell; "" leaves it to the command. It is in no file.
	Next string `json:"-"`

	// These describe the run; 0 means unknown.
	Threads        int     `json:"threads,omitempty"`
	MemoryBudget   int64   `json:"memory_budget_bytes,omitempty"`
	PeakRSS        int64   `json:"peak_rss_bytes,omitempty"`
	ElapsedSeconds float64 `json:"elapsed_seconds,omitempty"`

	// Executor ran the plan of a sample, or would run it. The other fields are set for the stream executor: its
	// design, the bytes that it read, its number of sweeps, and the forecast for the run.
	Executor  string    `json:"executor,omitempty"`
	Design    string    `json:"design,omitempty"`
	BytesRead *int64    `json:"bytes_read,omitempty"`
	Sweeps    *int64    `json:"sweeps,omitempty"`
	Forecast  *Forecast `json:"forecast,omitempty"`
	// Forecasts has a forecast for each executor and design.
	Forecasts []Forecast `json:"forecasts,omitempty"`

	Headline []item         `json:"headline,omitempty"`
	Inputs   []input        `json:"inputs,omitempty"`
	InItems  []item         `json:"in,omitempty"`
	OutItems []item         `json:"out,omitempty"`
	Notes    []note         `json:"notes,omitempty"`
	Tables   []Table        `json:"tables,omitempty"`
	Plots    []Distribution `json:"plots,omitempty"`
	Bars     []Bars         `json:"bars,omitempty"`
	HeatMaps []HeatMap      `json:"heat_maps,omitempty"`
	Pictures []Picture      `json:"pictures,omitempty"`
	// Profiles summarise the columns of a store that has few values.
	Profiles []ColumnProfile `json:"profiles,omitempty"`
	Stages   []Stage         `json:"stages,omitempty"`
}

// Forecast is the expected cost of a run.
type Forecast struct {
	Executor string  `json:"executor,omitempty"`
	Design   string  `json:"design,omitempty"`
	Sweeps   int64   `json:"sweeps"`
	Bytes    int64   `json:"bytes_read"`
	Written  int64   `json:"scratch_bytes_written"`
	Memory   int64   `json:"memory_bytes"`
	Least    int64   `json:"least_memory_bytes,omitempty"` // the smallest budget for such a run
	Seconds  float64 `json:"seconds"`
	Refused  string  `json:"refused,omitempty"` // why such a run is impossible; the numbers are 0 then
}

// item is a labelled value.
type item struct {
	Label string `json:"label"`
	Value Value  `json:"value"`
}

// input is a file or folder that the command read.
type input struct {
	Name        string `json:"name"`
	Bytes       int64  `json:"bytes"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Page is the address of the input's page, relative to the report's page.
	Page string `json:"page,omitempty"`

	at string // the path, for Link
}

// note is a remark, or a problem, with Count as its number of cases.
type note struct {
	Warning bool   `json:"warning,omitempty"`
	Count   int64  `json:"count,omitempty"`
	Text    string `json:"text"`
}

// Table has one value per column in each row.
type Table struct {
	Title   string    `json:"title"`
	Columns []string  `json:"columns"`
	Rows    [][]Value `json:"rows"`
}

// Stage is a part of the run. Stages are in order and do not overlap. Count and Unit say what the stage processed:
// 67108864 "edges", or a number of "bytes".
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count,omitempty"`
	Unit    string  `json:"unit,omitempty"`
}

// New returns the report of a command ("import") that was called as argv. As in os.Args, argv begins with the program;
// the report leaves out the folder of the program.
func New(command, title, version string, argv []string) *Report {
	return &Report{Format: Format, Command: command, Title: title, Version: version, Line: quoteLine(argv)}
}

// Head adds one of the few numbers at the top of the page.
func (r *Report) Head(label string, v Value) { r.Headline = append(r.Headline, item{label, v}) }

// Input adds a file or folder that was read, with its size in bytes and its fingerprint, which may be empty.
func (r *Report) Input(name string, bytes int64, fingerprint string) {
	r.InputAt(name, bytes, fingerprint, "")
}

// InputAt is Input with the path of the file or folder, which Link needs. The path itself is in no output.
func (r *Report) InputAt(name string, bytes int64, fingerprint, path string) {
	r.Inputs = append(r.Inputs, input{Name: name, Bytes: bytes, Fingerprint: fingerprint, at: path})
}

// Link sets the page of each input: page returns its address, relative to the page of the report, or "" for none. It is given
// the path of InputAt, or "", and the fingerprint and earlier page of the input.
func (r *Report) Link(page func(path, fingerprint, earlier string) string) {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		in.Page = page(in.at, in.Fingerprint, in.Page)
	}
}

// isRelative says whether an address leads to no other machine, and to no script.
func isRelative(address string) bool {
	u, err := url.Parse(address)
	return err == nil && !u.IsAbs() && u.Host == "" && !strings.HasPrefix(u.Path, "/")
}

// In adds a line to the inputs.
func (r *Report) In(label string, v Value) { r.InItems = append(r.InItems, item{label, v}) }

// Out adds a line to the outputs.
func (r *Report) Out(label string, v Value) { r.OutItems = append(r.OutItems, item{label, v}) }

// Note adds a remark.
func (r *Report) Note(text string) { r.Notes = append(r.Notes, note{Text: text}) }

// Warn adds a problem with n cases, such as "dangling edges dropped", which it writes as "dangling edge dropped" for one. It adds nothing
// where n is 0.
func (r *Report) Warn(n int64, text string) {
	if n != 0 {
		r.Notes = append(r.Notes, note{Warning: true, Count: n, Text: human.Things(n, text)})
	}
}

// Stage adds a part of the run, with its time, and the number and unit of what it processed. The unit is "bytes" or
// any plural; n is 0 where nothing is counted.
func (r *Report) Stage(name string, d time.Duration, n int64, unit string) {
	if n == 0 {
		unit = ""
	}
	r.Stages = append(r.Stages, Stage{name, d.Seconds(), n, unit})
}

// Table adds a table.
func (r *Report) Table(t Table) { r.Tables = append(r.Tables, t) }

// Plot adds a plot. The report owns the histograms of d from then on.
func (r *Report) Plot(d Distribution) { r.Plots = append(r.Plots, d) }

// Finish sets the elapsed time and the peak memory of the command.
func (r *Report) Finish(elapsed time.Duration) {
	r.ElapsedSeconds = elapsed.Seconds()
	r.PeakRSS = PeakRSS()
}

// errInvalid is wrapped by errors about the contents of a report.
var errInvalid = errors.New("invalid report")

// check refuses contents that the page cannot show or JSON cannot hold.
func (r *Report) check() error {
	if r.Format != Format {
		return fmt.Errorf("%w: found format %d, expected %d; use the version of graphmill that wrote it", errInvalid, r.Format, Format)
	}
	if r.Threads < 0 || r.MemoryBudget < 0 || r.PeakRSS < 0 || !isTime(r.ElapsedSeconds) {
		return fmt.Errorf("%w: found a negative number of threads, bytes or seconds", errInvalid)
	}
	for _, list := range []struct {
		name  string
		items []item
	}{{"headline", r.Headline}, {"in", r.InItems}, {"out", r.OutItems}} {
		for i, it := range list.items {
			if err := it.Value.check(); err != nil {
				return fmt.Errorf("%w: %s %d (%q): %w", errInvalid, list.name, i, it.Label, err)
			}
		}
	}
	for i, in := range r.Inputs {
		if !isRelative(in.Page) {
			return fmt.Errorf("%w: input %d (%q): found the page %q, expected a relative address", errInvalid, i, in.Name, in.Page)
		}
		if in.Bytes < 0 {
			return fmt.Errorf("%w: input %d (%q): found %d bytes, expected 0 or more", errInvalid, i, in.Name, in.Bytes)
		}
	}
	for i, t := range r.Tables {
		if err := t.check(); err != nil {
			return fmt.Errorf("%w: table %d (%q): %w", errInvalid, i, t.Title, err)
		}
	}
	for i, s := range r.Stages {
		if !isTime(s.Seconds) || s.Count < 0 {
			return fmt.Errorf("%w: stage %d (%q): found %v s and count %d, expected 0 or more", errInvalid, i, s.Name, s.Seconds, s.Count)
		}
	}
	for i := range r.Profiles {
		if err := r.Profiles[i].check(); err != nil {
			return fmt.Errorf("%w: profile %d (%q): %w", errInvalid, i, r.Profiles[i].Name, err)
		}
	}
	for i, d := range r.Plots {
		if err := d.check(); err != nil {
			return fmt.Errorf("%w: plot %d (%q): %w", errInvalid, i, d.Title, err)
		}
	}
	for i := range r.Bars {
		if err := r.Bars[i].check(); err != nil {
			return fmt.Errorf("%w: bars %d (%q): %w", errInvalid, i, r.Bars[i].Title, err)
		}
	}
	for i := range r.Pictures {
		if err := r.Pictures[i].check(); err != nil {
			return fmt.Errorf("%w: picture %d (%q): %w", errInvalid, i, r.Pictures[i].Title, err)
		}
	}
	for i := range r.HeatMaps {
		if err := r.HeatMaps[i].check(); err != nil {
			return fmt.Errorf("%w: heat map %d (%q): %w", errInvalid, i, r.HeatMaps[i].Title, err)
		}
	}
	return nil
}

func (t *Table) check() error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("row %d: found %d values, expected %d, one per column", i, len(row), len(t.Columns))
		}
		for j, v := range row {
			if err := v.check(); err != nil {
				return fmt.Errorf("row %d, column %q: %w", i, t.Columns[j], err)
			}
		}
	}
	return nil
}

func isTime(s float64) bool { return s >= 0 && !math.IsInf(s, 0) }

// heading returns the title, or the command where there is no title.
func (r *Report) heading() string {
	if strings.TrimSpace(r.Title) != "" {
		return r.Title
	}
	return "graphmill " + r.Command
}
