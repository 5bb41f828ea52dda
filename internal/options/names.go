package options

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// flagOf and keywordOf have the flags and keywords of fields, by field; of a field that has several the first. A flag may have a value.
var flagOf, keywordOf = namesOf(tables)

func namesOf(tables [][]Option) (flags, keywords map[string]string) {
	flags, keywords = map[string]string{"TLS": "tls-ca", "TypesTogether": "balance-types=false"}, map[string]string{}
	for _, table := range tables {
		for _, o := range table {
			flags[o.Field], keywords[o.Field] = cmp.Or(flags[o.Field], o.FlagName()), cmp.Or(keywords[o.Field], o.KeywordName())
		}
	}
	return flags, keywords
}

// of has the command of a flag, for advice to use a flag of another command than the running one. It is "" if the advice
// names the command itself.
var of = map[string]string{
	"both":            "",
	"dangling-edges":  "graphmill import",
	"duplicate-nodes": "graphmill import",
	"list-formats":    "graphmill import",
	"missing":         "graphmill import",
	"no-report":       "",
	"save-orig-eids":  "graphmill dispatch",
	"save-orig-nids":  "graphmill dispatch",
	"schema":          "graphmill import",
	"seed-type":       "",
	"seeds":           "graphmill sample",
}

var (
	quoted = regexp.MustCompile("`([A-Z][A-Za-z]*)`")
	number = regexp.MustCompile("^ ([0-9]+(?:,[0-9]+)*)(?:[.,:;)]? |[.,:;)]*$)") // the value of a field, or several
)

// Flags replaces the fields in a text by flags. has reports whether the running command has a flag, by its name without
// "--". A flag of another command is written with that command. Fields without a flag lose their backquotes.
func Flags(text string, has func(flag string) bool) string {
	return quoted.ReplaceAllStringFunc(text, func(match string) string {
		field := match[1 : len(match)-1]
		name := cmp.Or(flagOf[field], split(field, '-'))
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

// Keywords replaces the fields in a text by keywords of Python, and a field with whole numbers by an argument: "`Negatives` 1"
// by "negatives=1", "`Fanout` 15,10" by "fanout=[15, 10]".
func Keywords(text string) string {
	var b strings.Builder
	for {
		at := quoted.FindStringIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at[0]])
		field := text[at[0]+1 : at[1]-1]
		text = text[at[1]:]
		b.WriteString(cmp.Or(keywordOf[field], split(field, '_')))
		if value := number.FindStringSubmatch(text); value != nil {
			text = text[1+len(value[1]):]
			if list := strings.ReplaceAll(value[1], ",", ", "); list != value[1] {
				value[1] = "[" + list + "]"
			}
			b.WriteString("=" + value[1])
		}
	}
}

// split returns a name in lower case with sep between its words: "edge-features" for "EdgeFeatures", "ip-config" for
// "IPConfig".
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
