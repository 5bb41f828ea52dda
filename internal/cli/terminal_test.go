package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
)

// A message shows what its input holds: no byte of it acts on the terminal, and a
// value of megabytes does not hide what is wrong with it.
func TestSay(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ message, want string }{
		{"found a", "graphmill: found a\n"},
		{"one\ntwo", "graphmill: one\ngraphmill: two\n"},
		{"\x1b[2J\xff", `graphmill: \x1b[2J\xff` + "\n"},
		{"begin" + long + "end", "graphmill: begin" + long[:longestLine/2-5] + "[1044584 bytes]" + long[:longestLine/2-3] + "end\n"},
	} {
		var out bytes.Buffer
		(&Terminal{Stderr: &out}).Say("%s", c.message)
		if out.String() != c.want {
			t.Errorf("%.20q: found %.60q, expected %.60q", c.message, out.String(), c.want)
		}
	}
}

// What was a warning is not repeated in words; what a report says names flags.
func TestPrintReport(t *testing.T) {
	r := &graphmill.Report{Format: 1}
	r.Note("a: `Symmetrise` adds the reverses")
	r.Note("b: `Both` stores it")
	r.Warn(2, "rows dropped")
	r.Warn(3, "cells empty") // which the operation told only in its report
	cmd := &cobra.Command{}
	cmd.Flags().Bool("symmetrise", false, "")
	for _, asJSON := range []bool{false, true} {
		var out, said bytes.Buffer
		term := &Terminal{Stdout: &out, Stderr: &said}
		term.Begin(cmd)
		term.Warn(r.Notes[0].Text)
		term.Warn("2 rows dropped")
		if err := term.PrintReport(r, asJSON); err != nil {
			t.Fatal(err)
		}
		if want := "graphmill: warning: a: --symmetrise adds the reverses\n"; !strings.HasPrefix(said.String(), want) {
			t.Errorf("found %q, expected %q", said.String(), want)
		}
		for text, want := range map[string]bool{"a: --symmetrise adds the reverses": asJSON, "b: --both stores it": true, "rows dropped": asJSON, "3 cells empty": !asJSON, "cells empty": true, "`": false} {
			if strings.Contains(out.String(), text) != want {
				t.Errorf("JSON %v: %q in the report: found %v, expected %v:\n%s", asJSON, text, !want, want, out.String())
			}
		}
	}
	if r.Notes[0].Text != "a: `Symmetrise` adds the reverses" {
		t.Errorf("found %q, expected the report unchanged", r.Notes[0].Text)
	}
}
