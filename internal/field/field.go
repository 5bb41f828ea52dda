// Package field translates the fields of options that errors, warnings and notes name. The library writes them in
// backquotes: "found `Memory` 1.0 MiB, expected at least 24 MiB". The command line shows the flag in their place, the
// Python client the keyword. A flag is the field's name in lower case with hyphens, a keyword the same with
// underscores; the table has those that are called otherwise.
//
// The package imports the standard library alone.
package field

import (
	"regexp"
	"strings"
	"unicode"
)

// called are the flags that are not called as their field is.
var called = map[string]string{
	"Aggregation":   "edge-aggregation",
	"Limits":        "limit",
	"Overwrite":     "force",
	"TypesTogether": "balance-types=false",
}

// keywords are the keywords of Python that are not called as their field is.
var keywords = map[string]string{
	"NumHops": "num_hops",
}

// of names the command that has a flag, for advice about a flag that the command at hand lacks; "" where the advice names
// the command itself.
var of = map[string]string{
	"both":            "",
	"dangling-edges":  "graphmill import",
	"duplicate-nodes": "graphmill import",
	"empty-cells":     "graphmill import",
	"save-orig-eids":  "graphmill dispatch",
	"save-orig-nids":  "graphmill dispatch",
}

var quoted = regexp.MustCompile("`([A-Z][A-Za-z]*)`")

// Flags replaces the fields in a text by flags: those that has knows by their name without "--", and those of another
// command, which it names. Other fields lose their backquotes.
func Flags(text string, has func(flag string) bool) string {
	return quoted.ReplaceAllStringFunc(text, func(match string) string {
		field := match[1 : len(match)-1]
		name, ok := called[field]
		if !ok {
			name = split(field, '-')
		}
		flag, _, _ := strings.Cut(name, "=")
		switch {
		case has(flag):
			return "--" + name
		}
		command, ok := of[flag]
		switch {
		case !ok:
			return field
		case command == "":
			return "--" + name
		}
		return command + " --" + name
	})
}

// Keywords replaces the fields in a text by keywords of Python.
func Keywords(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(match string) string {
		field := match[1 : len(match)-1]
		if name, ok := keywords[field]; ok {
			return name
		}
		return split(field, '_')
	})
}

// split is a name in lower case with sep between its words: "EdgeFeatures" is "edge-features", "IPConfig" "ip-config".
func split(name string, sep rune) string {
	runes := []rune(strings.ReplaceAll(name, "IDs", "Ids"))
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteRune(sep)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
