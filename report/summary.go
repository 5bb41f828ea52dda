package report

import (
	"bytes"
	"io"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
)

// Summary writes the report in three lines: the output with the cost of the run, the input, and what to do next; then notes and warnings. next is a command for a shell
// and may be empty. Lines without contents are left out.
func (r *Report) Summary(w io.Writer, next string, colour bool) error {
	var b bytes.Buffer
	r.writeHeading(&b, colour)
	if in := r.inputWords(); in != "" {
		b.WriteString("  " + painted(colour, dim, "in") + "    " + in + "\n")
	}
	if next != "" {
		b.WriteString("  " + painted(colour, dim, "next") + "  " + human.Printable(next) + "\n")
	}
	r.writeNotes(&b, colour)
	_, err := w.Write(b.Bytes())
	return err
}

// inputWords is what was read, in one line.
func (r *Report) inputWords() string {
	var parts []string
	if len(r.Inputs) > mostNamed {
		var size int64
		for _, in := range r.Inputs {
			size += in.Bytes
		}
		parts = append(parts, human.Exact(int64(len(r.Inputs)))+" files, "+human.Bytes(size))
	} else {
		for _, in := range r.Inputs {
			parts = append(parts, human.Cut(human.Printable(in.Name), 40)+", "+human.Bytes(in.Bytes))
		}
	}
	for _, it := range r.InItems {
		parts = append(parts, inputItem(it))
	}
	return strings.Join(parts, " · ")
}

// mostNamed is how many inputs a summary names.
const mostNamed = 2

// inputItem is a number of the input in words: "46,500 rows of nodes", or "fanout 15,10".
func inputItem(it item) string {
	label, v := human.Cut(human.Printable(it.Label), 40), it.Value
	if names(label, v.Unit) {
		v.Unit = ""
		if v.Count != nil {
			label = human.Things(*v.Count, label)
		}
		return v.words() + " " + label
	}
	if v.Unit == "" {
		return label + " " + v.words()
	}
	return headline(it)
}

// painted is a text in a colour, or as it is.
func painted(colour bool, code, s string) string {
	if !colour || s == "" {
		return s
	}
	return code + s + plain
}

// writeHeading writes the line of the title, the time, the memory and the threads.
func (r *Report) writeHeading(b *bytes.Buffer, colour bool) {
	b.WriteString(painted(colour, bold, human.Printable(r.heading())))
	if run := r.run(); run != "" {
		b.WriteString("  " + painted(colour, dim, run))
	}
	b.WriteByte('\n')
}

// writeNotes writes a line per note and warning.
func (r *Report) writeNotes(b *bytes.Buffer, colour bool) {
	for _, n := range r.Notes {
		line := human.Printable(n.Text)
		if n.Count != 0 {
			line = human.Exact(n.Count) + " " + line
		}
		if n.Warning {
			b.WriteString("  " + painted(colour, yellow, "warning: "+line) + "\n")
		} else {
			b.WriteString("  note: " + line + "\n")
		}
	}
}
