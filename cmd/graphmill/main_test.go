package main

import (
	"flag"
	"io"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graphmill/graphmill/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"graphmill": func() { os.Exit(runCommand(os.Args, os.Stdout, os.Stderr)) }})
}

// TestScripts runs the real command line as a user does: testdata/script/*.txt.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true})
}

// A line that begins with a command makes that command alone; its flags are those that it has among all commands.
func TestRootForLine(t *testing.T) {
	all := newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard})
	for _, c := range commands() {
		root := newRootFor(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard}, []string{"graphmill", c.name})
		alone, _, err := root.Find([]string{c.name})
		if err != nil || alone.Name() != c.name {
			t.Errorf("%s: found %v, %v, expected the command", c.name, alone, err)
			continue
		}
		whole, _, err := all.Find([]string{c.name})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := alone.UsageString(), whole.UsageString(); got != want {
			t.Errorf("%s: found the usage %q, expected %q", c.name, got, want)
		}
	}
	for _, line := range [][]string{{"graphmill"}, {"graphmill", "--help"}, {"graphmill", "help"}, {"graphmill", "smaple"}} {
		if root := newRootFor(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard}, line); len(root.Commands()) != len(all.Commands()) {
			t.Errorf("%q: found %d commands, expected all", line, len(root.Commands()))
		}
	}
}
