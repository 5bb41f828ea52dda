package draft

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOf cuts a name into words in lower case: at signs, between cases ("OwnerUserId") and between letters and digits.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	letters := []rune(name)
	for i, r := range letters {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if i > 0 {
			before := letters[i-1]
			switch {
			case unicode.IsUpper(r) && unicode.IsLower(before),
				unicode.IsUpper(r) && unicode.IsUpper(before) && i+1 < len(letters) && unicode.IsLower(letters[i+1]) && !strings.HasPrefix(string(letters[i:]), "Ds"):
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return words
}

// sameSpelling says whether two names are one in other cases and with other signs, as customer_id and "Customer ID".
func sameSpelling(a, b string) bool {
	words := wordsOf(a)
	return strings.EqualFold(a, b) || len(words) > 0 && slices.Equal(words, wordsOf(b))
}

// plainWords say of a table that it is one, and not of what.
var plainWords = []string{"node", "nodes", "vertex", "vertices", "names", "table", "tbl", "dim", "fact", "data", "dataset", "list", "raw"}

// tableWords are the words of the name of a table that say what its rows are.
func tableWords(t *Table) []string {
	words := wordsOf(t.Name)
	said := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(plainWords, w) })
	if len(said) == 0 {
		return words
	}
	return said
}

// keyWords end or begin the names of keys.
var keyWords = []string{"id", "ids", "key", "fk", "pk", "sk", "uuid", "guid", "code", "no", "nr", "ref", "sku", "isbn"}

// stemOf returns the words of a name of a key without the word that says so, and whether it has one: user for user_id, fk_user and userid.
func stemOf(name string) (stem []string, isKey bool) {
	words := wordsOf(name)
	n := len(words)
	switch {
	case n == 0:
		return nil, false
	case slices.Contains(keyWords, words[n-1]):
		return words[:n-1], true
	case n > 1 && (words[0] == "id" || words[0] == "fk" || words[0] == "key"):
		return words[1:], true
	}
	return words, false
}

// joinedStem is the stem of a name that ends in "id" without a sign before it, as userid; nil: it does not.
func joinedStem(name string) []string {
	words := wordsOf(name)
	if n := len(words); n > 0 {
		if stem, ok := strings.CutSuffix(words[n-1], "id"); ok && len(stem) > 1 {
			return append(slices.Clone(words[:n-1]), stem)
		}
	}
	return nil
}

// forms are a word, and what it may be the plural of.
func forms(word string) []string {
	all := []string{word}
	for _, end := range [][2]string{{"ies", "y"}, {"es", ""}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(word, end[0]); ok && len(stem) > 1 && !strings.HasSuffix(word, "ss") {
			all = append(all, stem+end[1])
		}
	}
	switch word {
	case "people":
		all = append(all, "person")
	case "children":
		all = append(all, "child")
	}
	return all
}

// sameWord says whether two words are one, or one is the plural of the other.
func sameWord(a, b string) bool {
	other := forms(b)
	return slices.ContainsFunc(forms(a), func(x string) bool { return slices.Contains(other, x) })
}

// sameWords says whether two names have the same words, also if one of them writes them without signs ("orderitems").
func sameWords(a, b []string) bool {
	if slices.EqualFunc(a, b, sameWord) {
		return true
	}
	return len(a) > 0 && len(b) > 0 && sameWord(strings.Join(a, ""), strings.Join(b, ""))
}

// endsWith says whether a name ends with the words of another, and has more.
func endsWith(a, b []string) bool {
	return len(b) > 0 && len(a) > len(b) && sameWords(a[len(a)-len(b):], b)
}

// within says whether b has all words of a.
func within(a, b []string) bool {
	return len(a) > 0 && !slices.ContainsFunc(a, func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return sameWord(x, y) })
	})
}

// selfNames are stems of keys that refer to rows of their own table.
var selfNames = []string{"parent", "reports to", "reportsto", "manager", "boss", "supervisor", "superior", "mentor", "reply to", "in reply to", "ancestor", "predecessor", "successor", "referrer", "referred by"}

// isSelfName says whether a column is named as a key of its own table.
func isSelfName(name string) bool {
	stem, _ := stemOf(name)
	return slices.Contains(selfNames, strings.Join(stem, " "))
}

// The names of ends of edges, in lower case.
var (
	sourceNames = []string{"src", "source", "from", "from_id", "src_id", "source_id", "fromnodeid", "head", "u"}
	targetNames = []string{"dst", "target", "to", "to_id", "dst_id", "target_id", "tonodeid", "tail", "v", "destination"}
)

// isEndName says whether a column is named as an end of edges.
func isEndName(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(sourceNames, name) || slices.Contains(targetNames, name)
}

// hasWord says whether a name has one of some words.
func hasWord(name string, words ...string) bool {
	return slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(words, w) })
}

// isNamed says whether a column has a name, in any case of its letters.
func isNamed(c *column, name string) bool { return strings.EqualFold(c.Name, name) }

// typeName is a name without what names of types cannot have.
func typeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ':' || r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
}
