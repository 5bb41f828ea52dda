package report

import (
	"bytes"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/graphmill/graphmill/internal/human"
)

// Text writes the report as a few aligned lines for people. It uses colours only where w is a terminal and NO_COLOR is
// not set.
func (r *Report) Text(w io.Writer) error { return r.Styled(w, wantsColour(w)) }

// Styled writes the report as Text does, with colours if colour is true.
func (r *Report) Styled(w io.Writer, colour bool) error {
	_, err := w.Write(r.text(colour))
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
	var b bytes.Buffer
	r.writeHeading(&b, colour)
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
		line := "  " + painted(colour, dim, pad(head, 4)) + "  " + pad(l.label, labels) + "  "
		switch {
		case l.words != "":
			line += l.words
		case l.rate != "":
			line += padLeft(l.value, values) + " " + pad(l.unit, units) + "  " + painted(colour, dim, l.rate)
		default:
			line += padLeft(l.value, values) + " " + l.unit
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	r.writeNotes(&b, colour)
	return b.Bytes()
}

// run returns the headline, the time, the memory and the threads.
func (r *Report) run() string {
	var parts []string
	for _, it := range r.Headline {
		parts = append(parts, headline(it))
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

// headline is a number of the headline in words: "8,850 graphs/s" of "graphs per second", "2.01 MiB on disk". A number without a unit
// needs its label.
func headline(it item) string {
	label, v := human.Printable(it.Label), it.Value
	what, speed := strings.CutSuffix(label, " per second")
	switch {
	case speed && v.Number != nil:
		return human.Words(*v.Number) + " " + what + "/s"
	case speed && v.Bytes != nil:
		return v.words() + "/s"
	case v.Bytes != nil:
		return v.words() + " " + label
	case v.Unit == "":
		return label + " " + v.words()
	}
	return v.words()
}

// words is the value with its unit. Counts have all their digits.
func (v Value) words() string {
	switch {
	case v.Count != nil:
		return join(human.Exact(*v.Count), v.unit())
	case v.Number != nil && v.Unit == "s":
		return human.Duration(seconds(*v.Number))
	case v.Number != nil:
		return join(human.Words(*v.Number), v.Unit)
	}
	return v.String()
}

// names says whether a label has a unit as one of its words.
func names(label, unit string) bool {
	return unit != "" && strings.Contains(" "+label+" ", " "+unit+" ")
}

func (r *Report) textLines() []textLine {
	var lines []textLine
	add := func(head, label string, v Value, rate string) {
		l := textLine{head: head, label: human.Cut(human.Printable(label), 40), rate: human.Printable(rate)}
		if v.Text != nil {
			l.words = v.words()
		} else {
			l.value, l.unit, _ = strings.Cut(v.words(), " ")
			if names(label, v.Unit) {
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
		add("in", human.Exact(int64(n))+" files", Bytes(size), "")
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
			rate = human.Speed(s.Count, max(seconds(s.Seconds), time.Nanosecond), s.Unit)
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
