package report

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/graphmill/graphmill/internal/human"
)

// Text writes the report as a few aligned lines for people. It uses colours only where w is a terminal and NO_COLOR is
// not set.
func (r *Report) Text(w io.Writer) error {
	_, err := w.Write(r.text(wantsColour(w)))
	return err
}

func wantsColour(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// maxInputs is the most inputs that are named one by one. The page names all of them.
const maxInputs = 4

// textLine is a line of the summary. It has either a value with its unit and rate, or words.
type textLine struct{ head, label, value, unit, rate, words string }

func (r *Report) text(colour bool) []byte {
	paint := func(code, s string) string {
		if !colour || s == "" {
			return s
		}
		return code + s + plain
	}
	var b bytes.Buffer
	b.WriteString(paint(bold, human.Printable(r.heading())))
	if run := r.run(); run != "" {
		b.WriteString("  " + paint(dim, run))
	}
	b.WriteByte('\n')

	lines := r.textLines()
	labels, values, units := 0, 0, 0
	for _, l := range lines {
		labels, values, units = max(labels, width(l.label)), max(values, width(l.value)), max(units, width(l.unit))
	}
	last := ""
	for _, l := range lines {
		head := l.head
		if head == last {
			head = ""
		}
		last = l.head
		line := "  " + paint(dim, pad(head, 4)) + "  " + pad(l.label, labels) + "  "
		switch {
		case l.words != "":
			line += l.words
		case l.rate != "":
			line += padLeft(l.value, values) + " " + pad(l.unit, units) + "  " + paint(dim, l.rate)
		default:
			line += padLeft(l.value, values) + " " + l.unit
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, n := range r.Notes {
		line := human.Printable(n.Text)
		if n.Count != 0 {
			line = human.Exact(n.Count) + " " + line
		}
		if n.Warning {
			b.WriteString("  " + paint(yellow, "warning: "+line) + "\n")
		} else {
			b.WriteString("  note: " + line + "\n")
		}
	}
	return b.Bytes()
}

// run returns the headline, the time, the memory and the threads.
func (r *Report) run() string {
	var parts []string
	for _, it := range r.Headline {
		s := it.Value.String()
		if it.Value.Unit == "" { // without a unit the number needs its label
			s = human.Printable(it.Label) + " " + s
		}
		parts = append(parts, s)
	}
	if r.ElapsedSeconds > 0 {
		parts = append(parts, human.Duration(seconds(r.ElapsedSeconds)))
	}
	if r.PeakRSS > 0 {
		s := human.Bytes(r.PeakRSS)
		if r.MemoryBudget > 0 {
			s += " of " + human.Bytes(r.MemoryBudget)
		}
		parts = append(parts, s+" peak")
	}
	switch {
	case r.Threads == 1:
		parts = append(parts, "1 thread")
	case r.Threads > 1:
		parts = append(parts, human.Exact(int64(r.Threads))+" threads")
	}
	return strings.Join(parts, " · ")
}

func (r *Report) textLines() []textLine {
	var lines []textLine
	add := func(head, label string, v Value, rate string) {
		l := textLine{head: head, label: human.Cut(human.Printable(label), 40), rate: human.Printable(rate)}
		if v.Text != nil {
			l.words = v.String()
		} else {
			l.value, l.unit, _ = strings.Cut(v.String(), " ")
			if v.Unit == label {
				l.unit = ""
			}
		}
		lines = append(lines, l)
	}
	if n := len(r.Inputs); n > maxInputs {
		var size int64
		for _, in := range r.Inputs {
			size += in.Bytes
		}
		add("in", human.Count(int64(n))+" files", Bytes(size), "")
	} else {
		for _, in := range r.Inputs {
			add("in", in.Name, Bytes(in.Bytes), "")
		}
	}
	for _, it := range r.InItems {
		add("in", it.Label, it.Value, "")
	}
	for _, it := range r.OutItems {
		add("out", it.Label, it.Value, "")
	}
	for _, s := range r.Stages {
		rate := ""
		if s.Count > 0 {
			rate = s.rate()
		}
		add("time", s.Name, Value{Seconds: &s.Seconds}, rate)
	}
	return lines
}

// width returns the number of columns of s, one per character.
func width(s string) int { return utf8.RuneCountInString(s) }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

func pad(s string, n int) string { return s + spaces(n-width(s)) }

func padLeft(s string, n int) string { return spaces(n-width(s)) + s }
