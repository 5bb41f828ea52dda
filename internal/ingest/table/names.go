package table

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// List joins the names of columns for errors. Those that are more than a word are in quotes, and long ones are cut.
func List(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, Word(n))
	}
	return strings.Join(out, ", ")
}

// longest is the number of bytes of a name in an error.
const longest = 60

// Word returns a name as it is, or in quotes if it is not one word of letters, digits and the signs within names.
func Word(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:#/()[]", r)
	}
	switch {
	case len(name) > longest:
		return fmt.Sprintf("%q...", strings.ToValidUTF8(name[:longest], ""))
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return strconv.Quote(name)
	}
	return name
}

// CheckNames refuses columns without a name, and two of one name. place begins the error.
func CheckNames(place string, names []string) error {
	seen := make(map[string]bool, len(names))
	for i, n := range names {
		if n == "" {
			return badf("%s: found no name for column %d, expected one; name all columns", place, i+1)
		}
		if seen[n] {
			return badf("%s: found two columns %q, expected different names; rename one", place, n)
		}
		seen[n] = true
	}
	return nil
}
