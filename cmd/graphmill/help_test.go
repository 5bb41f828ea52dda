package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
)

func tree() *cobra.Command { return newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard}) }

// TestHelp walks all commands: every flag is in a group, which --help-all shows; no line is wider than the page; a short page is short,
// and says how many flags it leaves out.
func TestHelp(t *testing.T) {
	cli.Walk(tree(), func(cmd *cobra.Command) {
		all := cli.Help(cmd, cli.Page{Columns: 100, All: true})
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !regexp.MustCompile(`(?m)^ +(-\w, )?--`+f.Name+`( |$)`).MatchString(all) { // not only in an example
				t.Errorf("%s --help-all: found no --%s, expected it in a group; put it in one with cli.Group", cmd.CommandPath(), f.Name)
			}
		})
		for _, columns := range []int{60, 80, 100} {
			for _, everything := range []bool{false, true} {
				text := cli.Help(cmd, cli.Page{Columns: columns, All: everything})
				for line := range strings.SplitSeq(text, "\n") {
					// Only one word, such as a path, or a flag with its value may be wider.
					one := regexp.MustCompile(`^ *(-\S+ )?('[^']*'|\S+)( \\)?$`).MatchString(line)
					if n := utf8.RuneCountInString(line); n > columns && (columns == 100 || !one) {
						t.Errorf("%s: found %d columns in %d: %s", cmd.CommandPath(), n, columns, line)
					}
					if line != strings.TrimRight(line, " ") {
						t.Errorf("%s: found a space at the end of %q", cmd.CommandPath(), line)
					}
				}
			}
		}
		short := cli.Help(cmd, cli.Page{Columns: 100})
		if n := strings.Count(short, "\n"); n > 64 {
			t.Errorf("%s --help: found %d lines, expected one page; mark fewer flags as common", cmd.CommandPath(), n)
		}
		if left := short != all; left != strings.Contains(short, cmd.CommandPath()+" --help-all shows ") {
			t.Errorf("%s --help: found %q, expected it to say what --help-all shows if it leaves something out", cmd.CommandPath(), short)
		}
		for line := range strings.SplitSeq(short, "\n") {
			if strings.Count(line, "(") == 0 && strings.Count(line, "[") < strings.Count(line, "]") {
				t.Errorf("%s --help: found a bracket that does not open: %s", cmd.CommandPath(), line)
			}
		}
		if cmd.IsAvailableCommand() && cmd.HasParent() && !cmd.Parent().HasParent() && cmd.GroupID == "" {
			t.Errorf("%s: found no group, expected one in commandGroups", cmd.CommandPath())
		}
	})
}

// TestExamples parses the flags of the examples of all commands.
func TestExamples(t *testing.T) {
	found := 0
	cli.Walk(tree(), func(cmd *cobra.Command) {
		if cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		for _, line := range cli.ExampleCommands(cmd) {
			if line[0] != "graphmill" {
				continue
			}
			found++
			of, args, err := tree().Find(line[1:])
			if err == nil {
				err = of.ParseFlags(args)
			}
			if err != nil {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), line, err)
			}
		}
	})
	if found < 80 {
		t.Errorf("found %d examples, expected more: is the test looking at the right place?", found)
	}
}

// The documentation lists the kinds of errors.
func TestKinds(t *testing.T) {
	b, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "| `kind` |")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if !slices.Equal(listed, cli.Kinds()) {
		t.Errorf("docs/command-line.md: found the kinds %q, expected %q", listed, cli.Kinds())
	}
}

// A flag with a list of choices in its text takes all of them, and a default that it declares is one of them.
func TestChoices(t *testing.T) {
	cli.Walk(tree(), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			choices := cli.ChoicesOf(f)
			if len(choices) == 0 || f.DefValue == "" || strings.ContainsAny(f.DefValue, "[(") {
				return
			}
			if !slices.Contains(choices, f.DefValue) {
				t.Errorf("%s --%s: found the default %q, expected one of %q", cmd.CommandPath(), f.Name, f.DefValue, choices)
			}
		})
	})
}
