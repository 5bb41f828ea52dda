package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/vfs"
)

// newMan makes the hidden command that writes the manual pages of a program. They are a function of its commands and its version alone.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write a manual page for each command",
		Example: "  graphmill man dist/man",
		Hidden:  true,
		Args:    OneArg("one FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := vfs.OS.MkdirAll(args[0]); err != nil {
				return err
			}
			var err error
			Walk(cmd.Root(), func(c *cobra.Command) {
				if err == nil && (listed(c) || !c.HasParent()) && (!c.HasParent() || listed(c.Parent()) || !c.Parent().HasParent()) {
					err = vfs.WriteFile(vfs.OS, filepath.Join(args[0], pageName(c)+".1"), []byte(ManPage(c)))
				}
			})
			return err
		},
	}
}

// pageName is the name of the manual page of a command: graphmill-pack-fill.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// ManPage returns the manual page of a command, in the macros of man(7).
func ManPage(cmd *cobra.Command) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	text := func(paragraph string) {
		for l := range strings.SplitSeq(paragraph, "\n") {
			if l != "" && (l[0] == ' ' || l[0] == '\t') {
				line(".br\n%s", roff(strings.TrimSpace(l)))
				continue
			}
			line("%s", roff(l))
		}
	}
	line(`.TH "%s" 1 "" "graphmill %s" "Graphmill"`, strings.ToUpper(roff(pageName(cmd))), roff(graphmill.Version()))
	line(".nh\n.ad l") // names and flags are not broken
	line(".SH NAME\n%s \\- %s", roff(pageName(cmd)), roff(cmd.Short))
	line(".SH SYNOPSIS\n.B %s", roff(strings.TrimSuffix(cmd.UseLine(), " [flags]")+" [flags]"))
	line(".SH DESCRIPTION")
	about := paragraphs(cmd.Long)
	if len(about) == 0 {
		about = []string{cmd.Short + "."}
	}
	for i, p := range about {
		if i > 0 {
			line(".PP")
		}
		text(p)
	}
	if cmd.HasAvailableSubCommands() {
		line(".SH COMMANDS")
		for _, c := range cmd.Commands() {
			if listed(c) {
				line(".TP\n.B %s\n%s", roff(c.Name()), roff(c.Short))
			}
		}
	}
	byGroup, _ := shown(cmd)
	line(".SH OPTIONS")
	for _, title := range options.Groups {
		if len(byGroup[title]) > 0 {
			line(".SS %s", roff(title))
		}
		for _, f := range byGroup[title] {
			line(".TP\n.B %s\n%s", roff(strings.TrimSpace(flagName(f))), roff(flagText(f, false)))
		}
	}
	if examples := exampleLines(cmd.Example); len(examples) > 0 {
		line(".SH EXAMPLES\n.nf")
		for _, l := range examples {
			for part := range strings.SplitSeq(example(l, narrowestPage+16, 0), "\n") {
				line("%s", roff(strings.TrimPrefix(part, "  ")))
			}
		}
		line(".fi")
	}
	line(".SH EXIT STATUS\n%s.", roff(exitStatus(cmd)))
	if see := related(cmd); len(see) > 0 {
		line(".SH SEE ALSO\n%s", strings.Join(see, "\n"))
	}
	return b.String()
}

// related are the pages of the command above a command and of those below it.
func related(cmd *cobra.Command) []string {
	var see []string
	if cmd.HasParent() {
		see = append(see, ".BR "+roff(pageName(cmd.Parent()))+" (1)")
	}
	for _, c := range cmd.Commands() {
		if listed(c) {
			see = append(see, ".BR "+roff(pageName(c))+" (1)")
		}
	}
	for i := range see[:max(len(see)-1, 0)] {
		see[i] += " ,"
	}
	return see
}

// roff escapes a line of text.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
