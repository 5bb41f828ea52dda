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

// ErrInvalid is wrapped by errors about a message that can be read but is not valid.
var ErrInvalid = errors.New("not a valid message")

// Fault is one fault of a schema or spec, or one warning about it.
type Fault struct {
	// File is the name of the file; empty for a message that was not read from a file.
	File string `json:"file,omitempty"`
	// Line and Column start at 1; a column counts characters. Both are 0 if the message was not text. A missing field
	// has the place of the field that should contain it.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path leads to the field: node_sets["paper"].features["feat"].dtype. Empty means the message as a whole.
	Path string `json:"path,omitempty"`
	// Text says what was found, what was expected, and what to do.
	Text string `json:"text"`

	steps fieldPath
}

// Error returns the fault on one line, its place first.
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

// Unwrap returns ErrInvalid.
func (f *Fault) Unwrap() error { return ErrInvalid }

// joined joins faults in one error, which is nil if there are none.
func joined(faults []*Fault) error {
	var errs []error
	for _, f := range faults {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// step is one part of a path: a field, an entry of a map by its key, or an element of a list by its index.
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

// fieldPath leads from a message to a field in it. A path is extended by appending to a clipped slice, so that paths
// never share memory that one of them changes.
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

// maxFaults bounds the reported faults of a message. Nobody reads more, and a hostile message could take very long.
const maxFaults = 1000

// list collects faults.
type list []*Fault

func (l *list) add(at fieldPath, format string, args ...any) {
	switch {
	case len(*l) > maxFaults:
	case len(*l) == maxFaults:
		*l = append(*l, &Fault{Text: fmt.Sprintf("found more than %d faults, expected none; the others are not listed", maxFaults)})
	default:
		*l = append(*l, &Fault{Path: at.String(), Text: fmt.Sprintf(format, args...), steps: at})
	}
}

// place sets the file of faults and, if there is text, their line and column, and sorts them in the order of the
// text.
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
