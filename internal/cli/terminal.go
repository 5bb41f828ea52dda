package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/field"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/suggest"
)

// Terminal is where a command was called from.
type Terminal struct {
	Program        string   // which messages begin with; "" is graphmill
	Args           []string // the program's name first
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Renamed are flags that stand for fields which the command at hand calls otherwise, by the flag of the field.
	Renamed map[string]string

	flags *pflag.FlagSet // of the command that runs
	mu    sync.Mutex
	line  *progress.Line // the stage that is shown
	stage string
	at    int64
}

// Begin tells which command runs: errors name its flags.
func (t *Terminal) Begin(cmd *cobra.Command) { t.flags = cmd.Flags() }

// translate names flags in the place of fields.
func (t *Terminal) translate(text string) string {
	if t.flags == nil {
		return text
	}
	text = field.Flags(text, func(flag string) bool { return t.flags.Lookup(flag) != nil || t.Renamed[flag] != "" })
	for flag, name := range t.Renamed {
		text = strings.ReplaceAll(text, "--"+flag, "--"+name)
	}
	return text
}

// longestLine is the most bytes of one line of a message.
const longestLine = 4000

// Say prints a message, each line as one. Names and values of the input that a terminal might act on are escaped, and a
// line that is too long to read is cut in the middle.
func (t *Terminal) Say(format string, a ...any) {
	for line := range strings.SplitSeq(t.translate(fmt.Sprintf(format, a...)), "\n") {
		line = human.Printable(line)
		if cut := len(line) - longestLine; cut > 0 {
			line = line[:longestLine/2] + fmt.Sprintf("[%d bytes]", cut) + line[len(line)-longestLine/2:]
		}
		fmt.Fprintf(t.Stderr, "%s: %s\n", cmp.Or(t.Program, "graphmill"), line)
	}
}

// Warn prints what did not stop the command.
func (t *Terminal) Warn(text string) { t.Say("warning: %s", text) }

// Fail prints why a command ends. A text to copy is printed as it is.
func (t *Terminal) Fail(err error) {
	var layout *ingest.LayoutError
	if !errors.As(err, &layout) {
		t.Say("%v", err)
		return
	}
	t.Say("%s", layout.Reason)
	for line := range strings.SplitSeq("\n"+strings.TrimSuffix(layout.Text(), "\n"), "\n") {
		fmt.Fprintln(t.Stderr, human.Printable(line))
	}
}

// Progress shows how far a stage has come, as a line that only a terminal has.
func (t *Terminal) Progress(p graphmill.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Stage != t.stage || t.line == nil {
		t.line.Done()
		t.stage, t.at = p.Stage, 0
		t.line = progress.Start(t.Stderr, p.Stage, p.Total, p.Unit)
	}
	if p.Done > t.at {
		t.line.Add(p.Done - t.at)
		t.at = p.Done
	}
	if p.End {
		t.line.Done()
		t.line, t.stage = nil, ""
	}
}

// Start shows a piece of work of the command's own as a line of progress. The caller ends it.
func (t *Terminal) Start(label string, total int64, unit string) *progress.Line {
	return progress.Start(t.Stderr, label, total, unit)
}

// Result is what an operation returns, of which Text writes it in words.
type Result interface{ Text(w io.Writer) error }

// Print prints a result: in words, or as JSON.
func (t *Terminal) Print(r Result, asJSON bool) error {
	if asJSON {
		return t.JSON(r)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(t.Stdout, t.translate(b.String()))
	return err
}

// PrintReport prints the report of an operation whose output, if any, is in its place.
func (t *Terminal) PrintReport(r *graphmill.Report, asJSON bool) error {
	var err error
	if asJSON {
		var b []byte
		if b, err = r.JSON(); err == nil {
			_, err = t.Stdout.Write(b)
		}
	} else {
		err = r.Text(t.Stdout)
	}
	if err != nil {
		return fmt.Errorf("the output is whole and in its place, but its report could not be printed: %w", err)
	}
	return nil
}

// Println prints a line of an answer.
func (t *Terminal) Println(text string) {
	fmt.Fprintln(t.Stdout, human.Printable(t.translate(text)))
}

// JSON prints a value as JSON.
func (t *Terminal) JSON(v any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// Suggest is the end of an error about a flag that a command does not have: the flag that was probably meant.
func Suggest(f *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	f.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if w := suggest.Word(strings.ReplaceAll(unknown.GetSpecifiedName(), "_", "-"), known); w != "" {
		return "; did you mean --" + w + "?"
	}
	return ""
}
