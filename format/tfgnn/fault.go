package tfgnn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// ErrInvalid is wrapped by errors of a message that can be read but makes no sense.
var ErrInvalid = errors.New("not a valid message")

// Fault is one thing that is wrong with a schema or spec, or odd about it.
type Fault struct {
	// File is what was read; empty where the message came from nowhere.
	File string `json:"file,omitempty"`
	// Line and Column begin at 1, columns being characters. They are 0 where the
	// message was no text. What is missing has the place of what lacks it.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path leads to the field: node_sets["paper"].features["feat"].dtype. Empty
	// is the message as a whole.
	Path string `json:"path,omitempty"`
	// Text is what was found, what was expected, and what to do.
	Text string `json:"text"`

	steps fieldPath
}

// Error is the fault on one line, its place first.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
		if f.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
		}
		b.WriteByte(' ')
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// Unwrap is ErrInvalid.
func (f *Fault) Unwrap() error { return ErrInvalid }

// joined makes one error of faults; nil of none.
func joined(faults []*Fault) error {
	var errs []error
	for _, f := range faults {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// step is one part of a path: a field, an entry of a map by its key, or an
// element of a list by its number.
type step struct {
	field string
	kind  stepKind
	key   string
	index int
}

type stepKind byte

const (
	stepField stepKind = iota
	stepEntry
	stepElement
)

// fieldPath leads from a message to a field in it. Paths are extended by appending to
// a clipped slice, so that two faults never share what one of them changes.
type fieldPath []step

func (p fieldPath) with(s step) fieldPath { return append(slices.Clip(p), s) }

func (p fieldPath) field(name string) fieldPath { return p.with(step{field: name}) }

func (p fieldPath) entry(name, key string) fieldPath {
	return p.with(step{field: name, kind: stepEntry, key: key})
}

func (p fieldPath) element(name string, i int) fieldPath {
	return p.with(step{field: name, kind: stepElement, index: i})
}

func (p fieldPath) String() string {
	var b strings.Builder
	for i, s := range p {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.field)
		switch s.kind {
		case stepEntry:
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		case stepElement:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
	}
	return b.String()
}

// maxFaults bounds what is told of a message: beyond it nobody reads on, and a
// hostile one could hold the program up.
const maxFaults = 1000

// list gathers faults.
type list []*Fault

func (l *list) add(at fieldPath, format string, args ...any) {
	switch {
	case len(*l) > maxFaults:
	case len(*l) == maxFaults:
		*l = append(*l, &Fault{Text: fmt.Sprintf("found more than %d faults, expected none; the others are not told", maxFaults)})
	default:
		*l = append(*l, &Fault{Path: at.String(), Text: fmt.Sprintf(format, args...), steps: at})
	}
}

// place gives faults their file and, where there is text, their lines, and puts
// them in the order of the text.
func (l list) place(file string, text *textIndex, desc protoreflect.MessageDescriptor) {
	var paths []fieldPath
	for _, f := range l {
		f.File = file
		paths = append(paths, f.steps)
	}
	if text == nil {
		return
	}
	for i, at := range text.find(desc, paths) {
		if len(l[i].steps) > 0 {
			l[i].Line, l[i].Column = text.position(at)
		}
	}
	slices.SortStableFunc(l, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
