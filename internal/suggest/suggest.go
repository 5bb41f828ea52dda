// Package suggest finds the known word that was probably meant by an unknown one. It imports only the standard library.
package suggest

import (
	"fmt"
	"strings"
)

// Word is the known word that is closest to word, or that begins with it; "" where none is close.
func Word(word string, known []string) string {
	best, least := "", len(word)/3+2
	for _, k := range known {
		d := distance(word, k)
		if len(word) > 1 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// Hint is Word as the end of an error text, or "".
func Hint(word string, known []string) string {
	if w := Word(word, known); w != "" {
		return fmt.Sprintf("; did you mean %q?", w)
	}
	return ""
}

// distance is the Levenshtein distance: the letters to insert, delete or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
