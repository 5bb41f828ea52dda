package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// width is the number of columns of a text.
func width(s string) int { return utf8.RuneCountInString(s) }

// wrap breaks a text between words into lines of at most columns. A word that is longer is broken after a comma or another mark, or
// where the line ends.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && width(line)+1+width(word) <= columns {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > columns {
			runes := []rune(word)
			at := strings.LastIndexAny(string(runes[:columns]), ",;|/=") + 1
			if at == 0 {
				at = len(string(runes[:columns]))
			}
			lines = append(lines, word[:at])
			word = word[at:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// paragraphs returns the paragraphs of a text, which empty lines separate.
func paragraphs(text string) []string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p = strings.Trim(p, "\n"); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// fill breaks a paragraph into lines of at most columns. Lines that begin with a space are a list or a command: they keep their
// spaces where they fit, and go on below their last column where they do not.
func fill(paragraph string, columns int) string {
	var out, words []string
	flush := func() {
		out = append(out, wrap(strings.Join(words, " "), columns)...)
		words = nil
	}
	for line := range strings.SplitSeq(paragraph, "\n") {
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			flush()
			out = append(out, hang(strings.ReplaceAll(line, "\t", "  "), columns)...)
			continue
		}
		words = append(words, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// hang breaks a line of a list into lines of at most columns. Those after the first begin where the text after the first gap of
// two spaces begins, or two columns further in than the line, where there is no gap or little room after it.
func hang(line string, columns int) []string {
	if width(line) <= columns {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	indent := width(line) - width(text)
	begin, further := strings.Repeat(" ", indent), strings.Repeat(" ", indent+2)
	if at := strings.Index(text, "  "); at > 0 {
		rest := strings.TrimLeft(text[at:], " ")
		if in := width(line) - width(rest); in <= columns/2 {
			begin = strings.TrimSuffix(line, rest)
			text, further = rest, strings.Repeat(" ", in)
		}
	}
	var out []string
	for i, l := range wrap(text, max(columns-width(further), 1)) {
		if i == 0 {
			out = append(out, begin+l)
			continue
		}
		out = append(out, further+l)
	}
	return out
}

// exampleLines returns the lines of examples. A command that goes on in the next line is one of them.
func exampleLines(examples string) []string {
	var out []string
	goes := false
	for line := range strings.SplitSeq(strings.Trim(examples, "\n"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if goes {
			out[len(out)-1] += " " + strings.TrimSpace(strings.TrimSuffix(line, `\`))
		} else {
			out = append(out, strings.TrimSpace(strings.TrimSuffix(line, `\`)))
		}
		goes = strings.HasSuffix(line, `\`)
	}
	return out
}

// ExampleCommands returns the commands of the examples of a command, as words: a command for each part of a pipe, without quotes and comments.
func ExampleCommands(cmd *cobra.Command) [][]string {
	var out [][]string
	for _, line := range exampleLines(cmd.Example) {
		command, _ := comment(line)
		words := []string{}
		for _, word := range append(shellWords(command), "|") {
			switch word {
			case "|", ">", "<":
				if len(words) > 0 {
					out = append(out, words)
				}
				words = nil
			default:
				words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
			}
		}
	}
	return out
}

// comment splits a line into a command and its comment, which begins with a # after spaces.
func comment(line string) (command, about string) {
	if at := strings.Index(line, "  # "); at >= 0 {
		return strings.TrimRight(line[:at], " "), line[at+4:]
	}
	return line, ""
}

// example indents a line of examples, and continues it in further lines where it is wider than columns: the lines run in a shell as
// they are printed. pad is the column where comments begin.
func example(line string, columns, pad int) string {
	const indent = "  "
	command, about := comment(line)
	one := indent + command
	if about != "" {
		if with := one + strings.Repeat(" ", max(pad-width(command), 0)) + "  # " + about; width(with) <= columns {
			return with
		}
	}
	var b strings.Builder
	if about != "" {
		for _, l := range wrap("# "+about, columns-len(indent)) {
			if !strings.HasPrefix(l, "#") {
				l = "# " + l
			}
			b.WriteString(indent + l + "\n")
		}
	}
	if width(one) <= columns {
		return b.String() + one
	}
	at := indent
	for _, word := range flagWords(command) {
		switch {
		case at == indent:
			at += word
		case width(at)+1+width(word)+2 > columns: // a space and a backslash follow
			b.WriteString(at + " \\\n")
			at = indent + indent + word
		default:
			at += " " + word
		}
	}
	return b.String() + at
}

// flagWords are the words of a command, each flag with its value.
func flagWords(command string) []string {
	var out []string
	for _, word := range shellWords(command) {
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], "-") && !strings.Contains(out[n-1], " ") && !strings.HasPrefix(word, "-") {
			out[n-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// shellWords splits a command at its spaces outside of quotes. Words keep their quotes.
func shellWords(command string) []string {
	var words []string
	word, quote := "", rune(0)
	for _, r := range command {
		switch {
		case quote == 0 && r == ' ':
			if word != "" {
				words = append(words, word)
			}
			word = ""
			continue
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		}
		word += string(r)
	}
	if word != "" {
		words = append(words, word)
	}
	return words
}
