package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Failure is how a command that failed says so under --json: one object on stdout, whose field error this is.
type Failure struct {
	Message string `json:"message"`
	Kind    string `json:"kind"`
	Status  int    `json:"status"`
}

// kinds are the kinds of errors, by what an error wraps. The first one that fits is the kind.
var kinds = []struct {
	name string
	of   []error
}{
	{"interrupted", []error{context.Canceled}},
	{"memory", []error{graphmill.ErrMemory}},
	{"usage", []error{graphmill.ErrUsage}},
	{"exists", []error{graphmill.ErrExists}},
	{"damage", []error{graphmill.ErrDamaged, ErrDamage}},
	{"whole", []error{graphmill.ErrWhole}},
	{"resumable", []error{graphmill.ErrResumable}},
	{"not-a-store", []error{graphmill.ErrNotStore}},
	{"no-report", []error{graphmill.ErrNoReport}},
	{"disk-full", vfs.DiskFull},
	{"permission", []error{fs.ErrPermission}},
	{"not-found", []error{fs.ErrNotExist}},
}

// Kinds are the names of the kinds of errors.
func Kinds() []string {
	names := []string{"failed"}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return names
}

// kindOf is the kind of an error.
func kindOf(err error) string {
	for _, k := range kinds {
		if slices.ContainsFunc(k.of, func(of error) bool { return errors.Is(err, of) }) {
			return k.name
		}
	}
	return "failed"
}

// FailJSON prints an error on stdout as JSON, if the command was given --json and has printed nothing there: what it printed is then
// the answer. It is called before Fail.
func (t *Terminal) FailJSON(err error, status int) {
	if out, ok := t.Stdout.(*Stdout); !ok || out.Written() > 0 || !t.asksJSON() {
		return
	}
	// Stdout remembers the error of a write.
	_ = t.JSON(map[string]Failure{"error": {t.translate(vfs.Spelled(inWords(err))), kindOf(err), status}})
}

// asksJSON says whether the command line has the flag --json of the running command. It is asked for also where the flags were wrong.
func (t *Terminal) asksJSON() bool {
	if t.flags == nil || t.flags.Lookup("json") == nil {
		return false
	}
	for _, arg := range t.Args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// inWords is the text of an error, in which missing files are told in words and not by the call that looked for them: "x: found no such
// file or folder" for "stat x: no such file or directory". Damage that says nothing yet of what to do gets advice.
func inWords(err error) string {
	text := err.Error()
	for _, missing := range missingFiles(err) {
		raw, said := missing.Error(), missing.Path+": found no such file or folder"
		if strings.HasSuffix(text, raw) { // nothing says yet what to do
			text = strings.TrimSuffix(text, raw) + said + "; correct the path"
		}
		text = strings.ReplaceAll(text, raw, said)
	}
	if errors.Is(err, graphmill.ErrDamaged) && !strings.Contains(text, "; ") {
		text += "; 'graphmill verify FOLDER' names all that is damaged: copy it again, or make the folder again"
	}
	return text
}

// missingFiles are the errors within an error of calls that looked for files which are not there.
func missingFiles(err error) (list []*fs.PathError) {
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself
	case *fs.PathError:
		if errors.Is(e.Err, fs.ErrNotExist) && slices.Contains([]string{"stat", "lstat", "open"}, e.Op) && e.Path != "" {
			return []*fs.PathError{e}
		}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			list = append(list, missingFiles(part)...)
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return missingFiles(inner)
		}
	}
	return list
}
