package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoteLine returns a command line that a shell reads as argv, without the folder of the program.
func quoteLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if i == 0 {
			a = filepath.Base(a)
		}
		words[i] = QuoteWord(a)
	}
	return strings.Join(words, " ")
}

// QuoteWord quotes a word for POSIX shells. A word with bytes that do not print becomes $'...' with octal escapes (POSIX
// 2024; bash, zsh and ksh had it before), so the result is one line of valid UTF-8 without control characters.
func QuoteWord(s string) string {
	plain, prints := s != "" && s[0] != '=', true // zsh takes =word for a path
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			prints = false
			break
		}
		if !isPlain(r) {
			plain = false
		}
		i += n
	}
	switch {
	case !prints:
		return quoteBytes(s)
	case plain:
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isPlain says that r stands for itself in every shell.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-+.,/:@%=", r)
}

func quoteBytes(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1 || !unicode.IsPrint(r):
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}
