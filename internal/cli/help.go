package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/options"
)

const (
	widestPage    = 100
	narrowestPage = 60
	// manyFlags is the most flags of its own that a command shows in --help, and longPage the most lines of a page. A command with
	// more shows the common flags, and no description.
	manyFlags = 20
	longPage  = 60
	// mostExamples is the most examples that --help of a command with many flags shows.
	mostExamples = 6
)

// Page is the form of a help page.
type Page struct {
	Columns int  // the most columns of a line
	All     bool // of all flags and examples, also where there are many
	Bold    bool // headings are bold
}

// columns returns the width of a help page: the width of the terminal, if that is known and smaller than a page.
func (t *Terminal) columns() int {
	if n := terminalColumns(t.Stdout); n > 0 {
		return min(max(n, narrowestPage), widestPage)
	}
	return widestPage
}

// shown are the flags that the help of a command lists, by group. many says whether they are too many for --help.
func shown(cmd *cobra.Command) (byGroup map[string][]*pflag.Flag, many bool) {
	byGroup = map[string][]*pflag.Flag{}
	own := 0
	see := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := noted(f, groupNote)
		if title != options.GroupEvery {
			own++
		}
		byGroup[title] = append(byGroup[title], f)
	}
	cmd.LocalFlags().VisitAll(see)
	cmd.InheritedFlags().VisitAll(see)
	return byGroup, own > manyFlags
}

// Help returns the help of a command.
func Help(cmd *cobra.Command, p Page) string {
	byGroup, many := shown(cmd)
	if p.All {
		return page(cmd, p, byGroup, false)
	}
	return page(cmd, p, byGroup, many || strings.Count(page(cmd, Page{Columns: widestPage}, byGroup, false), "\n") > longPage)
}

// page is Help, of the common flags if it is to be short.
func page(cmd *cobra.Command, p Page, byGroup map[string][]*pflag.Flag, short bool) string {
	w := &pageWriter{cmd: cmd, Page: p, short: short}
	about := paragraphs(cmd.Long)
	if len(about) == 0 {
		about = []string{cmd.Short + "."}
	}
	w.b.WriteString(fill(about[0], p.Columns) + "\n")
	w.writeExamples()
	w.heading("Usage")
	if cmd.Runnable() {
		w.b.WriteString(strings.Join(hang("  "+cmd.UseLine(), p.Columns), "\n") + "\n")
	} else {
		w.b.WriteString("  " + cmd.CommandPath() + " COMMAND\n")
	}
	if !short && len(about) > 1 {
		w.writeDescription(about[1:])
	}
	if cmd.HasAvailableSubCommands() {
		w.heading("Commands")
		writeCommands(&w.b, cmd, p)
	}
	for _, title := range options.Groups {
		w.writeGroup(title, byGroup[title])
	}
	w.b.WriteString("\n" + fill("Exit status: "+exitStatus(cmd)+".", p.Columns) + "\n")
	if short {
		w.writeMore()
	}
	return w.b.String()
}

// pageWriter writes the page of a command.
type pageWriter struct {
	Page
	cmd   *cobra.Command
	b     strings.Builder
	short bool
	// Examples and flags that a short page leaves out.
	examples, flags int
}

// heading begins a section.
func (w *pageWriter) heading(title string) {
	if w.Bold {
		title = bold + title + plain
	}
	w.b.WriteString("\n" + title + ":\n")
}

// writeExamples writes the examples, with their comments below each other.
func (w *pageWriter) writeExamples() {
	lines := exampleLines(w.cmd.Example)
	if len(lines) == 0 {
		return
	}
	if w.short && len(lines) > mostExamples {
		w.examples = len(lines) - mostExamples
		lines = lines[:mostExamples]
	}
	w.heading("Examples")
	pad := 0
	for _, line := range lines {
		if command, about := comment(line); about != "" && width(command) <= w.Columns/2 {
			pad = max(pad, width(command))
		}
	}
	for _, line := range lines {
		w.b.WriteString(example(line, w.Columns, pad) + "\n")
	}
}

// writeDescription writes the paragraphs after the first.
func (w *pageWriter) writeDescription(about []string) {
	w.heading("Description")
	for i, paragraph := range about {
		if i > 0 {
			w.b.WriteByte('\n')
		}
		for line := range strings.SplitSeq(fill(paragraph, w.Columns-2), "\n") {
			w.b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
	}
}

// writeGroup writes the flags of a group; a short page, the common ones.
func (w *pageWriter) writeGroup(title string, all []*pflag.Flag) {
	var flags []*pflag.Flag
	for _, f := range all {
		if w.short && title != options.GroupEvery && noted(f, commonNote) == "" {
			w.flags++
			continue
		}
		flags = append(flags, f)
	}
	switch {
	case len(flags) == 0:
	case w.short && title == options.GroupEvery:
		var names []string
		for _, f := range flags {
			names = append(names, strings.TrimSpace(flagName(f)))
		}
		w.b.WriteString("\n" + fill(title+": "+strings.Join(names, "; "), w.Columns) + "\n")
	default:
		w.heading(title)
		writeFlags(&w.b, flags, w.Page, w.short)
	}
}

// writeMore says what a short page leaves out.
func (w *pageWriter) writeMore() {
	what := []string{"the whole description"}
	if w.examples > 0 {
		what = append([]string{fmt.Sprintf("%d more examples", w.examples)}, what...)
	}
	if w.flags > 0 {
		what = append([]string{fmt.Sprintf("%d more flags", w.flags)}, what...)
	}
	list := what[0]
	if n := len(what) - 1; n > 0 {
		list = strings.Join(what[:n], ", ") + " and " + what[n]
	}
	w.b.WriteString(fill(fmt.Sprintf("%s --help-all shows %s.", w.cmd.CommandPath(), list), w.Columns) + "\n")
}

// statusNote is the annotation of a root command that has the exit statuses.
const statusNote = "graphmill-status"

// exitStatus is the list of the exit statuses of a command.
func exitStatus(cmd *cobra.Command) string { return cmd.Root().Annotations[statusNote] }

// listed says whether the help lists a command.
func listed(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" }

// writeCommands lists the commands below a command, by group where they have groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command, p Page) {
	names := 0
	for _, c := range cmd.Commands() {
		if listed(c) {
			names = max(names, width(c.Name()))
		}
	}
	list := func(id, indent string) {
		for _, c := range cmd.Commands() {
			if !listed(c) || c.GroupID != id {
				continue
			}
			begin := indent + c.Name() + strings.Repeat(" ", names-width(c.Name())+2)
			for i, line := range wrap(c.Short, p.Columns-width(begin)) {
				if i > 0 {
					begin = strings.Repeat(" ", width(begin))
				}
				b.WriteString(begin + line + "\n")
			}
		}
	}
	for _, g := range cmd.Groups() {
		title := g.Title
		if p.Bold {
			title = bold + title + plain
		}
		b.WriteString("  " + title + "\n")
		list(g.ID, "    ")
	}
	list("", "  ")
}

// writeFlags lists flags with their texts.
func writeFlags(b *strings.Builder, flags []*pflag.Flag, p Page, short bool) {
	names := make([]string, len(flags))
	column := 0
	for i, f := range flags {
		names[i] = flagName(f)
		if n := width(names[i]) + 2; n <= p.Columns/3 {
			column = max(column, n)
		}
	}
	column = max(column, 12)
	for i, f := range flags {
		at := names[i]
		for _, line := range wrap(flagText(f, short), p.Columns-column) {
			if width(at)+2 > column {
				b.WriteString(at + "\n")
				at = ""
			}
			b.WriteString(at + strings.Repeat(" ", column-width(at)) + line + "\n")
			at = ""
		}
	}
}

// flagName is a flag with the name of its value: "  -o, --out FOLDER".
func flagName(f *pflag.Flag) string {
	name := "      --" + f.Name
	if f.Shorthand != "" && f.ShorthandDeprecated == "" {
		name = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value := ValueName(f); value != "" {
		name += " " + value
	}
	return name
}

// mostChoices is the longest list of choices that stands for the name of a value.
const mostChoices = 24

// ValueName is the name of a flag's value in the help, or "" for a flag that needs none.
func ValueName(f *pflag.Flag) string {
	if name := noted(f, valueNote); name != "" {
		return name
	}
	if choices := strings.Join(ChoicesOf(f), "|"); choices != "" {
		if len(choices) <= mostChoices {
			return choices
		}
		return "NAME"
	}
	switch kind := f.Value.Type(); kind {
	case "bool":
		return ""
	case "string", "stringArray", "stringSlice":
		return "TEXT"
	case "int", "int64", "uint64":
		return "N"
	case "float64", "float64Slice":
		return "X"
	case "duration":
		return "TIME"
	default:
		return kind
	}
}

// flagText is the text of a flag with its default. A short page shows what is before the first semicolon.
func flagText(f *pflag.Flag, short bool) string {
	text := f.Usage
	if first, rest, more := strings.Cut(text, "; "); more && short {
		text = first
		for _, end := range []string{" (default", " (required"} {
			if at := strings.LastIndex(rest, end); at >= 0 {
				text += rest[at:]
			}
		}
	}
	switch f.DefValue {
	case "", "0", "0s", "[]", "false", "<nil>":
		return text
	}
	if strings.Contains(text, "(default") {
		return text
	}
	return text + " (default: " + strings.Trim(f.DefValue, "[]") + ")"
}
