package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// terminal is where a command was called from.
type terminal struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// progress begins a progress line, which only a terminal shows.
func (t *terminal) progress(label string, total int64, unit string) *progress.Line {
	return progress.Start(t.stderr, label, total, unit)
}

// longestLine is the most bytes of one line of a message.
const longestLine = 4000

// say prints a message, each line as one. Names and values of the input that a
// terminal might act on are escaped, and what is too long to read is cut in the middle.
func (t *terminal) say(format string, a ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, a...), "\n") {
		line = human.Printable(line)
		if cut := len(line) - longestLine; cut > 0 {
			line = line[:longestLine/2] + fmt.Sprintf("[%d bytes]", cut) + line[len(line)-longestLine/2:]
		}
		fmt.Fprintf(t.stderr, "graphmill: %s\n", line)
	}
}

// fail prints why a command ends. A text to copy is printed as it is.
func (t *terminal) fail(err error) {
	var layout *ingest.LayoutError
	if !errors.As(err, &layout) {
		t.say("%v", err)
		return
	}
	t.say("%s", layout.Reason)
	for line := range strings.SplitSeq("\n"+strings.TrimSuffix(layout.Text(), "\n"), "\n") {
		fmt.Fprintln(t.stderr, human.Printable(line))
	}
}

// warn prints what did not stop the command.
func (t *terminal) warn(format string, a ...any) {
	t.say("warning: "+format, a...)
}

// common are the flags of every command that works long.
type common struct {
	json    bool
	threads int
	memory  flags.Bytes
}

func (c *common) add(cmd *cobra.Command) {
	c.addThreads(cmd)
	cmd.Flags().Var(&c.memory, "memory", "bound of the peak memory, such as 2GiB (default: no bound)")
}

// addThreads adds the flags of a command that holds little memory.
func (c *common) addThreads(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&c.json, "json", false, "print one JSON report on stdout")
	f.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "worker threads; results do not depend on them")
}

func (c *common) check() error {
	if c.threads < 1 || c.threads > 4096 {
		return usagef("found --threads %d, expected 1 to 4096", c.threads)
	}
	return nil
}

// outFlags are the flags of every command that writes a folder.
type outFlags struct {
	out   string
	force bool
}

func (o *outFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.out, "out", "o", "", "folder to write (required)")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the folder if it is an output of graphmill")
}

func (o *outFlags) check() error {
	if o.out == "" {
		return usagef("found no --out, expected a folder to write; give --out FOLDER")
	}
	return nil
}

// keeps refuses an output folder that would replace what the command reads (an
// input, or a folder that holds one), or that would lie among the checksummed
// files of an output of graphmill.
func (o *outFlags) keeps(inputs ...string) error {
	out, err := realPath(o.out)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		path, err := realPath(in)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(out, path); err == nil && filepath.IsLocal(rel) {
			return usagef("found --out %s, which is or holds the input %s, expected another folder", o.out, in)
		}
		if rel, err := filepath.Rel(path, out); err == nil && filepath.IsLocal(rel) {
			if _, err := vfs.OS.Stat(filepath.Join(path, store.ManifestFile)); err == nil {
				return usagef("found --out %s, which lies in the input %s, expected a folder outside of it", o.out, in)
			}
		}
	}
	return nil
}

// realPath is the absolute path without symbolic links of what exists, or will.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, base := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base), nil
	}
	return path, nil
}

// oneArg is the check of a command with one argument.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("found %d arguments, expected %s", len(args), what)
		}
		return nil
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("found argument %q, expected none", args[0])
	}
	return nil
}

// begin makes the report of a command.
func (t *terminal) begin(command, title string, c common) *report.Report {
	r := report.New(command, title, version(), t.args)
	r.Threads, r.MemoryBudget = c.threads, int64(c.memory)
	return r
}

// finish prints a report: in words, or as JSON.
func (t *terminal) finish(r *report.Report, c common) error {
	if !c.json {
		return r.Text(t.stdout)
	}
	b, err := r.JSON()
	if err != nil {
		return err
	}
	_, err = t.stdout.Write(b)
	return err
}

// sealer is the end of an output folder's making.
type sealer interface {
	Report(html, json []byte) error
	Publish() error
}

// render makes both forms of a report.
func render(r *report.Report) (html, json []byte, err error) {
	if html, err = r.HTML(); err != nil {
		return nil, nil, err
	}
	json, err = r.JSON()
	return html, json, err
}

// publish puts the report beside a sealed output and gives the folder its name.
func (t *terminal) publish(w sealer, r *report.Report, c common, start time.Time) error {
	r.Finish(time.Since(start))
	html, json, err := render(r)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Report(html, json), w.Publish()); err != nil {
		return err
	}
	if err := t.finish(r, c); err != nil {
		return fmt.Errorf("the output is whole and in its place, but its report could not be printed: %w", err)
	}
	return nil
}
