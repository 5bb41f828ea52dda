package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// counter is an output that is being written: an array of numbers, and a text file for each ten numbers, which is
// closed when it is full. Its state is the count of numbers.
type counter struct {
	w     *Writer
	array *Array
	text  vfs.File
	n     int
}

var counterOf = map[string]string{"seed": "1"}

func textName(n int) string { return fmt.Sprintf("texts/%d", n/10) }

// beginCounter begins or resumes a counter. Warnings are added to warned.
func beginCounter(fsys vfs.FS, out string, of map[string]string, warned *[]string) (c *counter, err error) {
	w, err := Continue(fsys, out, false)
	if err != nil {
		return nil, err
	}
	c = &counter{w: w}
	err = w.Begin(context.Background(), of, 2, func(err error) { *warned = append(*warned, err.Error()) })
	if err == nil && w.State() != nil {
		err = DecodeJSON(w.State(), &c.n)
	}
	if err == nil {
		c.array, err = w.Array("a/numbers.npy", graph.Uint32)
	}
	if err == nil && c.n%10 != 0 {
		c.text, err = w.Create(textName(c.n))
	}
	if err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

// count counts up to number n, with a checkpoint after each number that is a multiple of every.
func (c *counter) count(n, every int) (err error) {
	for ; c.n < n && err == nil; c.n++ {
		if c.n%10 == 0 && c.text == nil {
			if c.text, err = c.w.Create(textName(c.n)); err != nil {
				return err
			}
		}
		_, err = c.array.Write(graph.Bytes([]uint32{uint32(c.n)}))
		if err == nil {
			_, err = fmt.Fprintln(c.text, c.n)
		}
		if err == nil && c.n%10 == 9 {
			err, c.text = c.text.Close(), nil
		}
		if err == nil && (c.n+1)%every == 0 {
			err = errors.Join(c.array.Flush(), c.w.Checkpoint(c.n+1))
		}
	}
	return err
}

// publish ends the output.
func (c *counter) publish() error {
	err := c.array.Close()
	c.array = nil
	if c.text != nil {
		err = errors.Join(err, c.text.Close())
		c.text = nil
	}
	if err == nil {
		err = c.w.Seal(context.Background(), nil, 2)
	}
	if err == nil {
		err = c.w.Publish()
	}
	return err
}

// end ends a counter that is not published.
func (c *counter) end() error {
	var errs []error
	if c.array != nil {
		errs = append(errs, c.array.Close())
	}
	if c.text != nil {
		errs = append(errs, c.text.Close())
	}
	return errors.Join(append(errs, c.w.Abort())...)
}

// expectCounter checks that out is the output of 45 numbers.
func expectCounter(t *testing.T, out string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, "a/numbers.npy"))
	must(t, err)
	want := make([]uint32, 45)
	texts := map[string]string{}
	for i := range want {
		want[i] = uint32(i)
		texts[textName(i)] += fmt.Sprintln(i)
	}
	if len(b) < npy.HeaderSize || !slices.Equal(graph.View[uint32](b[npy.HeaderSize:]), want) {
		t.Errorf("found other numbers than 0 to 44")
	}
	for name, text := range texts {
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(b) != text {
			t.Errorf("%s: found %q (%v), expected %q", name, b, err, text)
		}
	}
	m, err := ReadManifest(vfs.OS, out)
	if err != nil || len(m.Files) != 6 {
		t.Fatalf("found %v (%v), expected six files", m, err)
	}
	v, err := Verify(context.Background(), vfs.OS, out, 1, nil)
	if err != nil || len(v.Damage) > 0 || len(v.Unknown) > 0 {
		t.Fatalf("found %+v (%v)", v, err)
	}
	if _, err := os.Lstat(filepath.Join(out, checkpointFile)); err == nil {
		t.Error("found the checkpoint in the output")
	}
}

// TestCheckpoint stops an output after number 27, when its checkpoint has 26 numbers, and resumes it in ways that must
// find these or begin anew.
func TestCheckpoint(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string)
		warn string // the output begins anew
	}{
		{name: "as it was"},
		{name: "files of later", harm: func(t *testing.T, dir string) {
			write(t, dir+"/texts/3", "half")
			must(t, os.MkdirAll(dir+"/b/c", 0o755))
			write(t, dir+"/"+ManifestFile, "{}")
			write(t, dir+"/."+checkpointFile+".partial", "{")
		}},
		{name: "header written", harm: func(t *testing.T, dir string) { flip(t, dir+"/a/numbers.npy", 5) }},
		{name: "flipped after the checkpoint", harm: func(t *testing.T, dir string) { flip(t, dir+"/a/numbers.npy", npy.HeaderSize+4*26) }},
		{name: "cut at the checkpoint", harm: func(t *testing.T, dir string) { must(t, os.Truncate(dir+"/a/numbers.npy", npy.HeaderSize+4*26)) }},
		{name: "flipped", harm: func(t *testing.T, dir string) { flip(t, dir+"/a/numbers.npy", npy.HeaderSize+4*25) }, warn: "a/numbers.npy: damaged: found checksum "},
		{name: "cut", harm: func(t *testing.T, dir string) { must(t, os.Truncate(dir+"/a/numbers.npy", npy.HeaderSize+4*25)) }, warn: "a/numbers.npy: damaged: found 228 bytes, expected 232"},
		{name: "flipped in a closed file", harm: func(t *testing.T, dir string) { flip(t, dir+"/texts/1", 0) }, warn: "texts/1: damaged: found checksum "},
		{name: "longer closed file", harm: func(t *testing.T, dir string) {
			b, err := os.ReadFile(dir + "/texts/1")
			must(t, err)
			write(t, dir+"/texts/1", string(b)+"!")
		}, warn: "texts/1: damaged: found 31 bytes, expected 30"},
		{name: "missing", harm: func(t *testing.T, dir string) { must(t, os.Remove(dir+"/texts/0")) }, warn: `damaged: found no file "texts/0"`},
		{name: "link", harm: func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/texts/2", dir+"/../elsewhere"))
			must(t, os.Symlink("../../elsewhere", dir+"/texts/2"))
		}, warn: "texts/2: damaged: found a link or device"},
		{name: "link to a folder", harm: func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/texts", dir+"/../elsewhere"))
			must(t, os.Symlink("../elsewhere", dir+"/texts"))
		}, warn: `damaged: found no file "texts/`},
		{name: "no JSON", harm: func(t *testing.T, dir string) { write(t, dir+"/"+checkpointFile, "{") }, warn: "unexpected EOF"},
		{name: "flipped checkpoint", harm: func(t *testing.T, dir string) {
			b, err := os.ReadFile(dir + "/" + checkpointFile)
			must(t, err)
			write(t, dir+"/"+checkpointFile, strings.Replace(string(b), `"state":26`, `"state":25`, 1))
		}, warn: "found checksum "},
		{name: "another format", harm: func(t *testing.T, dir string) { writeCheckpoint(t, dir, `{"format":2}`) }, warn: "found format 2, expected 1"},
		{name: "no state", harm: func(t *testing.T, dir string) { writeCheckpoint(t, dir, `{"format":1,"of":{"seed":"1"},"files":{}}`) }, warn: "found no state"},
		{name: "leads out", harm: func(t *testing.T, dir string) {
			writeCheckpoint(t, dir, `{"format":1,"of":{"seed":"1"},"state":1,"files":{"../../victim":{"bytes":0,"xxh3":"2d06800538d394c2","open":true}}}`)
		}, warn: `damaged: found no file "../../victim"`},
		{name: "negative", harm: func(t *testing.T, dir string) {
			writeCheckpoint(t, dir, `{"format":1,"of":{"seed":"1"},"state":1,"files":{"texts/0":{"bytes":-1,"xxh3":""}}}`)
		}, warn: "texts/0: damaged: found 20 bytes, expected -1"},
		{name: "null", harm: func(t *testing.T, dir string) {
			writeCheckpoint(t, dir, `{"format":1,"of":{"seed":"1"},"state":1,"files":{"texts/0":null}}`)
		}, warn: `damaged: found no file "texts/0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			out := filepath.Join(base, "out")
			victim := filepath.Join(filepath.Dir(base), "victim")
			write(t, victim, "victim")
			var warned []string
			run, err := beginCounter(disk, out, counterOf, &warned)
			must(t, err)
			must(t, run.count(27, 13))
			must(t, run.end())
			if _, err := os.Stat(out); err == nil {
				t.Fatal("found an output of a run that did not end")
			}
			if c.harm != nil {
				c.harm(t, run.w.Dir())
			}
			run, err = beginCounter(disk, out, counterOf, &warned)
			must(t, err)
			if want := 26; c.warn == "" && run.n != want || c.warn != "" && run.n != 0 {
				t.Errorf("found %d numbers to resume from", run.n)
			}
			if c.warn == "" && len(warned) > 0 || c.warn != "" && (len(warned) != 1 || !strings.Contains(warned[0], c.warn)) {
				t.Errorf("found warnings %q, expected %q", warned, c.warn)
			}
			must(t, run.count(45, 13))
			must(t, run.publish())
			must(t, run.end())
			expectCounter(t, out)
			if b, err := os.ReadFile(victim); err != nil || string(b) != "victim" {
				t.Errorf("found %q (%v) outside of the folder", b, err)
			}
		})
	}
}

// flip changes one byte.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	b[at] ^= 1
	write(t, name, string(b))
}

func writeCheckpoint(t *testing.T, dir, inner string) {
	t.Helper()
	write(t, dir+"/"+checkpointFile, fmt.Sprintf(`{"xxh3":%q,"checkpoint":%s}`, sum([]byte(inner)), inner))
}

// TestCheckpointOfAnotherRun checks that such a checkpoint is refused with its differences, and stays.
func TestCheckpointOfAnotherRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var warned []string
	run, err := beginCounter(disk, out, counterOf, &warned)
	must(t, err)
	must(t, run.count(13, 13))
	must(t, run.end())
	for want, of := range map[string]map[string]string{
		`seed was "1" and is "2"`:                               {"seed": "2"},
		`plan was not given and is "p"`:                         {"seed": "1", "plan": "p"},
		`seed was "1" and is not given`:                         nil,
		"plan differs, seed was \"1\" and is \"3\"":             {"seed": "3", "plan": strings.Repeat("p", 500)},
		`a was not given and is "", seed was "1" and is "2"; g`: {"seed": "2", "a": ""},
	} {
		_, err := beginCounter(disk, out, of, &warned)
		if !errors.Is(err, ErrOtherRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	run, err = beginCounter(disk, out, counterOf, &warned)
	must(t, err)
	if run.n != 13 || len(warned) > 0 {
		t.Errorf("found %d numbers and warnings %q, expected 13 and none", run.n, warned)
	}
	must(t, run.end())
}

// TestCheckpointSurvives ends a run at each of its calls, with an error, a kill or a power loss, and resumes it until
// the output is complete.
func TestCheckpointSurvives(t *testing.T) {
	count := &vfs.Fault{FS: disk}
	var warned []string
	whole := func(fsys vfs.FS, out string) (from int, err error) {
		c, err := beginCounter(fsys, out, counterOf, &warned)
		if err != nil {
			return 0, err
		}
		from = c.n
		if err = c.count(45, 6); err == nil {
			err = c.publish()
		}
		return from, errors.Join(err, c.end())
	}
	_, err := whole(count, filepath.Join(t.TempDir(), "out"))
	must(t, err)
	calls := count.Calls()
	for name, dead := range map[string]bool{"error": false, "killed": true, "power": true} {
		t.Run(name, func(t *testing.T) {
			parent, gone := t.TempDir(), 0
			for at := int64(1); at <= calls; at += 7 {
				out := filepath.Join(parent, fmt.Sprint(at))
				broken := errors.New("broken")
				volatile := &vfs.Volatile{FS: disk}
				_, err := whole(&vfs.Fault{FS: volatile, FailAt: at, Err: broken, Dead: dead, Short: true}, out)
				if err == nil && dead {
					t.Fatalf("call %d is the last: found no error", at)
				}
				if name == "power" {
					must(t, volatile.Crash())
				}
				if _, err := os.Lstat(out); err == nil { // the failed call did no harm, or came after the rename
					expectCounter(t, out)
					continue
				}
				// The second run is killed, too, so that the third resumes from its checkpoint.
				_, _ = whole(&vfs.Fault{FS: disk, FailAt: calls / 2, Err: broken, Dead: true}, out)
				if _, err := os.Lstat(out); err == nil {
					expectCounter(t, out)
					continue
				}
				from, err := whole(disk, out)
				if err != nil {
					t.Fatalf("after call %d: %v", at, err)
				}
				if from > 0 {
					gone++
				}
				expectCounter(t, out)
			}
			if len(warned) > 0 {
				t.Errorf("found %q", warned)
			}
			if gone < int(calls)/20 {
				t.Errorf("found %d runs that resumed from a checkpoint", gone)
			}
		})
	}
}

// TestCheckpointNeedsBegin checks the order of calls, and that no file is forgotten.
func TestCheckpointNeedsBegin(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	w, err := Create(disk, out, false)
	must(t, err)
	if err := w.Checkpoint(1); err == nil {
		t.Error("found a checkpoint before Begin")
	}
	must(t, w.Abort())
	var warned []string
	run, err := beginCounter(disk, out, counterOf, &warned)
	must(t, err)
	must(t, run.count(3, 3))
	must(t, run.end())
	w, err = Continue(disk, out, false)
	must(t, err)
	must(t, w.Begin(context.Background(), counterOf, 1, nil))
	if err := w.Seal(context.Background(), nil, 1); err == nil || !strings.Contains(err.Error(), "that was not opened") {
		t.Errorf("found %v, expected a file that was not opened", err)
	}
	must(t, w.Abort())
	// No checkpoint is made of a file that could not be written, even at a second try.
	fault := &vfs.Fault{FS: disk, Err: errors.New("broken")}
	run, err = beginCounter(fault, out, counterOf, &warned)
	must(t, err)
	fault.FailAt = fault.Calls() + 1
	for _, want := range []string{"broken", "could not be written"} {
		if err := run.count(60, 60); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	must(t, run.end())
	// Create, unlike Continue, replaces it.
	w, err = Create(disk, out, false)
	must(t, err)
	if entries, err := os.ReadDir(w.Dir()); err != nil || len(entries) > 0 {
		t.Errorf("found %v (%v), expected nothing", entries, err)
	}
	must(t, w.Abort())
	if _, err := os.Lstat(w.Dir()); err == nil {
		t.Error("found a partial folder without a checkpoint")
	}
}

// FuzzCheckpoint reads any text as a checkpoint with a valid checksum.
func FuzzCheckpoint(f *testing.F) {
	f.Add(`{"format":1,"of":{"seed":"1"},"state":1,"files":{"a":{"bytes":1,"head":1,"xxh3":"2d06800538d394c2","open":true}}}`)
	f.Add(`{"format":1,"of":null,"state":{},"files":{"../b":{"bytes":9223372036854775807,"head":-1,"xxh3":""}}}`)
	f.Add(`{"format":1,"of":{"seed":"1"},"files":{"a":null,".":{}}}`)
	f.Fuzz(func(t *testing.T, inner string) {
		fuzzing.Check(t, len(inner), func() {
			base := t.TempDir()
			dir := filepath.Join(base, ".out.partial")
			must(t, os.Mkdir(dir, 0o755))
			write(t, dir+"/a", "a")
			write(t, base+"/b", "b")
			writeCheckpoint(t, dir, inner)
			w, err := Continue(disk, filepath.Join(base, "out"), false)
			must(t, err)
			if err := w.Begin(context.Background(), counterOf, 1, func(error) {}); err == nil {
				if _, err := w.Array("a", graph.Uint8); err == nil {
					_ = w.Checkpoint(1)
				}
			}
			must(t, w.Leave())
			if b, err := os.ReadFile(base + "/b"); err != nil || string(b) != "b" {
				t.Errorf("found %q (%v) outside of the folder", b, err)
			}
		})
	})
}
