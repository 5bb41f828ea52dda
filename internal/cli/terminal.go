package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Terminal holds the arguments and streams of a command, and prints its messages.
type Terminal struct {
	Program        string   // prefix of messages; "" is graphmill
	Args           []string // the program's name first
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Renamed maps the flag of a field to the flag that the running command has for the field instead.
	Renamed map[string]string
	// Quiet leaves out progress, notes and summaries.
	Quiet bool
	// Verbose prints whole reports in place of summaries.
	Verbose bool

	colour  colour         // of --color
	helpAll bool           // of --help-all
	flags   *pflag.FlagSet // flags of the running command
	mu      sync.Mutex
	line    *progress.Line // line of the current stage
	stage   string
	at      int64
	whole   progress.Whole // the run whose stages are shown

	warned map[string]bool // the texts of the warnings so far
}

// Begin sets the running command, whose flags errors name.
func (t *Terminal) Begin(cmd *cobra.Command) {
	t.flags = cmd.Flags()
	t.whole.Set(0)
}

// translate replaces the names of fields by the names of flags, and leaves out what addresses have that others must not see.
func (t *Terminal) translate(text string) string {
	text = database.Redact(text)
	if t.flags == nil {
		return text
	}
	text = options.Flags(text, func(flag string) bool { return t.flags.Lookup(flag) != nil || t.Renamed[flag] != "" })
	for flag, name := range t.Renamed {
		text = strings.ReplaceAll(text, "--"+flag, "--"+name)
	}
	return text
}

// longestLine is the most bytes of one line of a message.
const longestLine = 4000

// warning begins the text of a warning.
const warning = "warning:"

// Say prints a message to stderr, and the prefix before each of its lines. Control characters are escaped, because
// messages contain names and values of the input. A very long line is shortened in the middle.
func (t *Terminal) Say(format string, a ...any) { t.say("", format, a...) }

// say is Say with the prefix in a colour.
func (t *Terminal) say(code, format string, a ...any) {
	prefix := cmp.Or(t.Program, "graphmill") + ":"
	if code != "" {
		prefix = t.paint(t.Stderr, code, prefix)
	}
	for line := range strings.SplitSeq(t.translate(fmt.Sprintf(format, a...)), "\n") {
		line = human.Printable(vfs.Spelled(line))
		if cut := len(line) - longestLine; cut > 0 {
			line = line[:longestLine/2] + fmt.Sprintf("[%d bytes]", cut) + line[len(line)-longestLine/2:]
		}
		if text, is := strings.CutPrefix(line, warning); is {
			line = t.paint(t.Stderr, yellow, warning) + text
		}
		fmt.Fprintln(t.Stderr, fitted(prefix+" "+line, terminalColumns(t.Stderr)))
	}
}

// Note prints a remark, unless the command is quiet.
func (t *Terminal) Note(text string) {
	if !t.Quiet {
		t.Say("%s", text)
	}
}

// Warn prints a warning.
func (t *Terminal) Warn(text string) {
	t.Say("warning: %s", text)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.warned == nil {
		t.warned = map[string]bool{}
	}
	t.warned[text] = true
}

// Fail prints the error that ends a command.
func (t *Terminal) Fail(err error) { t.say(red, "%s", inWords(err)) }

// Progress shows the progress of a stage as a line, if stderr is a terminal.
func (t *Terminal) Progress(p option.Progress) {
	if t.Quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.whole.Set(p.Share)
	if p.Stage != t.stage || t.line == nil {
		t.line.Done()
		t.stage, t.at = p.Stage, 0
		t.line = progress.Start(t.Stderr, t.colours(t.Stderr), p.Stage, p.Total, p.Unit, &t.whole)
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

// Start shows a line of progress for work that the command does itself. The caller ends it.
func (t *Terminal) Start(label string, total int64, unit string) *progress.Line {
	if t.Quiet {
		return nil
	}
	return progress.Start(t.Stderr, t.colours(t.Stderr), label, total, unit, nil)
}

// Result is the result of an operation. Text writes it in words.
type Result interface{ Text(w io.Writer) error }

// Print prints a result in words or as JSON. In words, it leaves out the lines that Warn has printed.
func (t *Terminal) Print(r Result, asJSON bool) error {
	if asJSON {
		return t.JSON(r)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		return err
	}
	_, err := io.WriteString(t.Stdout, fitted(t.translate(t.unsaid(b.String())), terminalColumns(t.Stdout)))
	return err
}

// unsaid is a text without the lines that Warn has printed.
func (t *Terminal) unsaid(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.warned) == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !t.warned[strings.TrimSpace(line)] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Summarise prints what an operation did that wrote an output. A quiet command prints it only as JSON.
func (t *Terminal) Summarise(r Result, asJSON bool) error {
	if t.Quiet && !asJSON {
		return nil
	}
	return t.Print(r, asJSON)
}

// PrintReport prints the report of an operation that has already published its output, if it has one. In words, it leaves
// out what Warn has printed.
func (t *Terminal) PrintReport(r *graphmill.Report, asJSON bool) error {
	return t.printReport(r, asJSON, (*graphmill.Report).Styled)
}

// printReport is PrintReport with the function that writes the report in words.
func (t *Terminal) printReport(r *graphmill.Report, asJSON bool, write func(*graphmill.Report, io.Writer, bool) error) error {
	r = t.noted(r, !asJSON)
	var err error
	if asJSON {
		var b []byte
		if b, err = r.JSON(); err == nil {
			_, err = t.Stdout.Write(b)
		}
	} else {
		var text strings.Builder
		if err = write(r, &text, t.colours(t.Stdout)); err == nil {
			_, err = io.WriteString(t.Stdout, fitted(text.String(), terminalColumns(t.Stdout)))
		}
	}
	if err != nil {
		return fmt.Errorf("the output is complete, but its report could not be printed: %w", err)
	}
	return nil
}

// noted is a report whose notes name flags. Once, it has no remark and no warning that Warn has printed.
func (t *Terminal) noted(r *graphmill.Report, once bool) *graphmill.Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := *r
	of.Notes = nil
	for _, n := range r.Notes {
		if !once || !t.said(n.Text, n.Count) {
			n.Text = t.translate(n.Text)
			of.Notes = append(of.Notes, n)
		}
	}
	return &of
}

// said says whether Warn has printed a text, or a number of cases and the text.
func (t *Terminal) said(text string, count int64) bool {
	return count == 0 && t.warned[text] || count != 0 && (t.warned[fmt.Sprintf("%d %s", count, text)] || t.warned[human.Exact(count)+" "+text])
}

// Step returns the terminal of a command that this one runs as one of its steps.
func (t *Terminal) Step(args []string) *Terminal {
	return &Terminal{Args: args, Stdin: t.Stdin, Stdout: t.Stdout, Stderr: t.Stderr, Quiet: t.Quiet, Verbose: t.Verbose, colour: t.colour}
}

// Println prints a line to stdout.
func (t *Terminal) Println(text string) {
	fmt.Fprintln(t.Stdout, human.Printable(t.translate(text)))
}

// Finish returns a function that prints the report of an operation, or returns its error. Where the operation wrote an output, and neither Verbose nor JSON is asked
// for, it prints a summary. A quiet command prints only JSON.
func (t *Terminal) Finish(asJSON bool) func(*graphmill.Report, error) error {
	return func(r *graphmill.Report, err error) error {
		if err != nil {
			return err
		}
		if t.Quiet && !asJSON {
			return nil
		}
		if t.Verbose || r.Output == "" {
			return t.PrintReport(r, asJSON)
		}
		return t.printReport(r, asJSON, func(r *graphmill.Report, w io.Writer, colour bool) error { return r.Summary(w, nextStep(r), colour) })
	}
}

// nextStep returns the command to run on the output of an operation: its own, or info for a graph, verify for other outputs. It names the page of the output, if there is one. A
// table for other programs has none.
func nextStep(r *graphmill.Report) string {
	if r.Next != "" || r.Command == "export predictions" {
		return r.Next
	}
	verb := "verify"
	if r.Command == "import" || strings.HasPrefix(r.Command, "generate") {
		verb = "info"
	}
	next := "graphmill " + verb + " " + report.QuoteWord(r.Output)
	page := filepath.Join(r.Output, "report.html")
	if there, err := vfs.Exists(vfs.OS, page); err == nil && there {
		next += ", or open " + report.QuoteWord(page)
	}
	return next
}

// JSON prints a value to stdout as JSON.
func (t *Terminal) JSON(v any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// renamed holds flags of earlier versions, with their names now.
var renamed = map[string]string{"empty-cells": "missing"}

// otherwise holds flags that other programs have, with the names of ours.
var otherwise = map[string]string{"overwrite": "force"}

// Suggest returns the end of an error about an unknown flag, or a column given to --color: the known flag that was probably meant, or "".
func Suggest(f *pflag.FlagSet, err error) string {
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) && wrong.GetFlag().Name == "color" && f.Lookup("colour") != nil {
		return "; a column is given as --colour " + wrong.GetValue()
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var known []string
	f.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if now := renamed[unknown.GetSpecifiedName()]; slices.Contains(known, now) {
		return "; it is named --" + now + " now"
	}
	if ours := otherwise[unknown.GetSpecifiedName()]; slices.Contains(known, ours) {
		return "; did you mean --" + ours + "?"
	}
	if w := suggest.Word(strings.ReplaceAll(unknown.GetSpecifiedName(), "_", "-"), known); w != "" {
		return "; did you mean --" + w + "?"
	}
	return ""
}
