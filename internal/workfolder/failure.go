package workfolder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Folders of a work folder, which Reset makes.
const (
	pulses   = "workers"
	failures = "failed"
)

// Reset makes the folders for pulses and failures, and empties the folders of an earlier run.
func Reset(fsys vfs.FS, dir string) error {
	for _, name := range []string{pulses, failures} {
		name = filepath.Join(dir, name)
		if err := errors.Join(RemoveAll(fsys, name), fsys.MkdirAll(name)); err != nil {
			return err
		}
	}
	if vfs.SenderOf(fsys, dir) != nil {
		return vfs.WriteFile(fsys, filepath.Join(dir, pulses, listening), nil)
	}
	return nil
}

// listening is an object that Reset makes. Workers may outlive their job by a moment, and an object store has no folder whose absence would keep them from leaving
// messages there.
const listening = "listening"

// listens says whether a message is made in a work folder.
func listens(fsys vfs.FS, dir string) bool {
	if vfs.SenderOf(fsys, dir) == nil {
		return true // the folder itself says it
	}
	there, err := vfs.Exists(fsys, filepath.Join(dir, pulses, listening))
	return there && err == nil
}

// say writes a message to a work folder whose submitter listens. An object store makes objects without a folder, so say removes the message if the submitter ended meanwhile.
func say(fsys vfs.FS, dir, name string, b []byte) error {
	if !listens(fsys, dir) {
		return nil
	}
	err := vfs.WriteFile(fsys, name, b)
	if !listens(fsys, dir) {
		err = errors.Join(err, fsys.RemoveAll(name))
	}
	return err
}

// failure is the error of a worker.
type failure struct {
	Host  string `json:"host"`
	Text  string `json:"text"`
	Final bool   `json:"final"` // trying again cannot help
	// System is set for an error of a disk or a network: a later run of the same work can succeed.
	System bool `json:"system,omitempty"`
}

// Fail saves the text of an error of a worker for the submitter. That of a job that was cancelled is none.
func Fail(fsys vfs.FS, dir string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	host, _ := os.Hostname()
	b, _ := json.Marshal(failure{Host: host, Text: err.Error(), Final: final(err), System: System(err)})
	_ = say(fsys, dir, filepath.Join(dir, failures, Unique()), b)
}

// final says whether trying again gives the same error: it does, except where a disk or a network failed.
func final(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	return !System(err) || errors.Is(err, fs.ErrNotExist)
}

// System says whether an error is one of a disk or a network, and none of what was read.
func System(err error) bool {
	var path *fs.PathError
	var system syscall.Errno
	return errors.As(err, &path) || errors.As(err, &system)
}

// Hopeless says whether a worker met an error that every run of the same work meets: what it read breaks a rule.
func Hopeless(fsys vfs.FS, dir string) bool {
	found := false
	eachFailure(fsys, dir, func(f *failure) { found = found || f.Final && !f.System })
	return found
}

// eachFailure calls fn for the errors of the workers that can be read.
func eachFailure(fsys vfs.FS, dir string, fn func(f *failure)) {
	entries, err := fsys.ReadDir(filepath.Join(dir, failures))
	if err != nil {
		return
	}
	for _, e := range entries {
		var f failure
		b, err := vfs.ReadFile(fsys, filepath.Join(dir, failures, e.Name()), 1<<20)
		if err == nil && json.Unmarshal(b, &f) == nil {
			fn(&f)
		}
	}
}

// Failures is the errors of the workers, without repeats: those after which trying again cannot help, and the others.
func Failures(fsys vfs.FS, dir string) (final, other []string) {
	eachFailure(fsys, dir, func(f *failure) {
		list := &other
		if f.Final {
			list = &final
		}
		if text := fmt.Sprintf("worker on %s: %s", f.Host, f.Text); !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	})
	return final, other
}

// Explain adds what the workers told to the error of a job.
func Explain(fsys vfs.FS, dir string, err error) error {
	if err == nil {
		return nil
	}
	final, other := Failures(fsys, dir)
	texts := slices.Concat(final, other)
	texts = slices.DeleteFunc(texts, func(t string) bool {
		_, text, _ := strings.Cut(t, ": ")
		return strings.Contains(err.Error(), text)
	})
	if len(texts) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(texts, "\n"))
}

// Unique is a name that no other process makes. It reaches no output.
func Unique() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
