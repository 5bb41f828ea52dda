// Package yamltext writes texts as YAML.
package yamltext

import (
	"fmt"
	"strings"
)

// Quoted is a text as a YAML scalar in double quotes.
func Quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
