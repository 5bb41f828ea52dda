package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/graphmill/graphmill/internal/human"
)

// Lineage is how an output folder came about: the steps that made it, each after those that made its inputs. The last step
// made the folder itself.
type Lineage struct {
	Version string        `json:"version"` // of the program that followed the steps
	Steps   []LineageStep `json:"steps"`
}

// LineageStep is an output folder, or input files that no step made.
type LineageStep struct {
	// Name is the name of the folder, or for files what the step that read them calls them.
	Name string `json:"name"`
	// Found says that the folder or the files are at hand, with the fingerprint that the step that read them recorded.
	Found bool `json:"found"`
	// Folder is the path of the folder, relative to the folder that holds the folder of the last step; "" for files, and for a folder
	// that is not at hand.
	Folder      string `json:"folder,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Files is the number of input files; 0 for a folder.
	Files int `json:"files,omitempty"`
	// Command made the folder, in Version. Both are empty for files and for a folder that is not at hand.
	Command string `json:"command,omitempty"`
	Version string `json:"version,omitempty"`
	Bytes   int64  `json:"bytes"`
	// These are of the report of the folder; 0 means unknown.
	ElapsedSeconds float64          `json:"elapsed_seconds,omitempty"`
	PeakRSS        int64            `json:"peak_rss_bytes,omitempty"`
	Warnings       []LineageWarning `json:"warnings,omitempty"`
	// Page says that the folder has a report.html.
	Page bool `json:"page"`
	// Inputs are the steps that made what this step read, as indices of Steps, in ascending order.
	Inputs []int `json:"inputs"`
}

// LineageWarning is a warning of a step, and its number of cases.
type LineageWarning struct {
	Count int64  `json:"count,omitempty"`
	Text  string `json:"text"`
}

// notFound is what people read of a step that is not at hand.
const notFound = "not found here"

// what says in a few words what made the step.
func (s *LineageStep) what() string {
	switch {
	case s.Command != "":
		return human.Printable(s.Command)
	case s.Files == 1:
		return "1 file"
	case s.Files > 1:
		return human.Exact(int64(s.Files)) + " files"
	}
	return "folder"
}

// numbers returns the size, the time, the peak memory and the number of kinds of warnings, "" for what is unknown.
func (s *LineageStep) numbers() (size, took, memory, warnings string) {
	if s.Bytes > 0 || s.Found {
		size = human.Bytes(s.Bytes)
	}
	if s.ElapsedSeconds > 0 {
		took = human.Duration(seconds(s.ElapsedSeconds))
	}
	if s.PeakRSS > 0 {
		memory = human.Bytes(s.PeakRSS)
	}
	if n := len(s.Warnings); n > 0 {
		warnings = human.Exact(int64(n))
	}
	return size, took, memory, warnings
}

// Text writes a line per step, and its warnings.
func (l *Lineage) Text(w io.Writer) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "STEP\tMADE BY\tSIZE\tTIME\tPEAK MEMORY\tINPUTS\n")
	for i := range l.Steps {
		s := &l.Steps[i]
		name, made := human.Printable(s.Name), s.what()
		if !s.Found {
			made += ", " + notFound
		}
		var inputs []string
		for _, in := range s.Inputs {
			inputs = append(inputs, human.Printable(l.Steps[in].Name))
		}
		size, took, memory, _ := s.numbers()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", name, made, size, took, memory, strings.Join(inputs, ", "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	for i := range l.Steps {
		for _, warning := range l.Steps[i].Warnings {
			out.WriteString("warning: " + human.Printable(l.Steps[i].Name) + ": " + warning.String() + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (w *LineageWarning) String() string {
	if w.Count == 0 {
		return human.Printable(w.Text)
	}
	return human.Exact(w.Count) + " " + human.Printable(w.Text)
}

// check refuses what the page cannot show.
func (l *Lineage) check() error {
	for i := range l.Steps {
		s := &l.Steps[i]
		if s.Bytes < 0 || s.PeakRSS < 0 || !isTime(s.ElapsedSeconds) {
			return fmt.Errorf("%w: step %d (%q): found a negative number of bytes or seconds", errInvalid, i, s.Name)
		}
		for _, in := range s.Inputs {
			if in < 0 || in >= i {
				return fmt.Errorf("%w: step %d (%q): found the input %d, expected an earlier step", errInvalid, i, s.Name, in)
			}
		}
	}
	return nil
}

//go:embed lineage.html
var lineageSource string

var lineagePage = template.Must(template.New("lineage").Funcs(template.FuncMap{
	"printable": human.Printable,
	"name":      breakable,
	"find":      findAttribute,
}).Parse(lineageSource))

// LineageMark is in every page that HTML makes, so that such a page can be told from other files.
const LineageMark = `<meta name="generator" content="graphmill lineage">`

// lineageView is the data of lineage.html.
type lineageView struct {
	Heading, Version string
	Style            template.CSS
	Policy           string
	Script           template.JS
	SVG              template.HTML
	Rows             []lineageRow
	Warnings         []lineageRow
	Absent           bool
}

type lineageRow struct {
	Name, Link, What           string
	Found                      bool
	Size, Time, Memory, Number string
	Texts                      []string
}

// HTML returns the lineage as a page. link returns the address of a folder relative to the page.
func (l *Lineage) HTML(link func(folder string) string) ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	v := lineageView{Heading: "Lineage", Version: l.Version, Style: template.CSS(pageStyle), Policy: policy(false)}
	if len(l.Steps) > longTable {
		v.Policy, v.Script = policy(true), findScript
	}
	if n := len(l.Steps); n > 0 {
		v.Heading = "Lineage of " + human.Printable(l.Steps[n-1].Name)
	}
	links := make([]string, len(l.Steps))
	for i := range l.Steps {
		s := &l.Steps[i]
		if s.Page {
			links[i] = link(s.Folder) + "/report.html"
		}
		row := lineageRow{Name: human.Printable(s.Name), Link: links[i], What: s.what(), Found: s.Found}
		row.Size, row.Time, row.Memory, row.Number = s.numbers()
		v.Absent = v.Absent || !s.Found
		v.Rows = append(v.Rows, row)
		if len(s.Warnings) > 0 {
			for _, w := range s.Warnings {
				row.Texts = append(row.Texts, w.String())
			}
			v.Warnings = append(v.Warnings, row)
		}
	}
	v.SVG = l.draw(links)
	var out bytes.Buffer
	if err := lineagePage.Execute(&out, &v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
