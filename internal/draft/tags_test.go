package draft

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// taggedColumn is the column of some texts, as a table with these rows has it. Cells are counted by two workers.
func taggedColumn(texts []string) *column {
	c := &column{table: &Table{rows: uint64(len(texts))}, hashed: true}
	distinct := map[string]bool{}
	var second cells
	c.cells.tags.most, second.tags.most = mostTags, mostTags
	for i, text := range texts {
		of := &c.cells
		if i%3 == 1 {
			of = &second
		}
		of.add(uint64(i), []byte(text))
		distinct[text] = true
	}
	c.cells.merge(&second)
	c.distinct = uint64(len(distinct))
	return c
}

// Random lists of tags are tags with any separator, and the guess names it and their number. No tag is a number or a bool, such as Nan or True.
func TestTagged(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		vocabulary := rapid.SliceOfNDistinct(rapid.StringMatching(`[BCDGHJKLMPQRSVWXZ][a-z]{2,9}( [a-z]{2,6}|-Fi)?`), 4, 20, rapid.ID[string]).Draw(r, "tags")
		sep := rapid.SampledFrom([]string{";", "|", ",", ", ", "; ", " | "}).Draw(r, "separator")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		var texts []string
		seen := map[string]bool{}
		for range 200 {
			var list []string
			for _, i := range rnd.Perm(len(vocabulary))[:1+rnd.IntN(3)] {
				list = append(list, vocabulary[i])
				seen[vocabulary[i]] = true
			}
			texts = append(texts, strings.Join(list, sep))
			if rnd.IntN(10) == 0 {
				texts = append(texts, "")
			}
		}
		c := taggedColumn(texts)
		got, n := c.tagged()
		if got != sep || n != len(seen) {
			r.Fatalf("found %d tags with %q between them, expected %d with %q: %q", n, got, len(seen), sep, texts[:3])
		}
		if m := textMeaning(c); m.kind != labels || m.dtype != "string" {
			r.Fatalf("found %+v, expected texts that are lists of tags", m)
		}
	})
}

// Texts with separators that are no lists of tags are none.
func TestNotTagged(t *testing.T) {
	words := strings.Fields("the quick brown fox jumps over lazy dogs while seven old wizards watch from a hill far away and sing")
	first, last := strings.Fields("Ada Alan Grace Linus Ken Barbara Edsger Donald"), strings.Fields("Smith Jones Brown Taylor Khan Singh Lee Garcia Novak Rossi Silva")
	for name, row := range map[string]func(r *rand.Rand) string{
		"sentences": func(r *rand.Rand) string {
			var parts []string
			for range 2 + r.IntN(3) {
				var part []string
				for range 3 + r.IntN(6) {
					part = append(part, words[r.IntN(len(words))])
				}
				parts = append(parts, strings.Join(part, " "))
			}
			return strings.Join(parts, ", ") + "."
		},
		"names":          func(r *rand.Rand) string { return last[r.IntN(len(last))] + ", " + first[r.IntN(len(first))] },
		"decimal commas": func(r *rand.Rand) string { return fmt.Sprintf("%d,%d", r.IntN(20), r.IntN(10)) },
		"thousands":      func(r *rand.Rand) string { return fmt.Sprintf("%d,%03d,%03d", 1+r.IntN(3), r.IntN(3), r.IntN(3)) },
		"points":         func(r *rand.Rand) string { return fmt.Sprintf("%d.5,%d.5", r.IntN(9), r.IntN(9)) },
		"dates":          func(r *rand.Rand) string { return fmt.Sprintf("Jan %d, %d", 1+r.IntN(28), 2000+r.IntN(9)) },
		"ISO dates":      func(r *rand.Rand) string { return fmt.Sprintf("2024-01-%02d", 1+r.IntN(28)) },
		"lists":          func(r *rand.Rand) string { return fmt.Sprintf("%d;%d;%d", r.IntN(5), r.IntN(5), r.IntN(5)) },
		"brackets":       func(r *rand.Rand) string { return fmt.Sprintf("['%s', '%s']", first[r.IntN(8)], first[r.IntN(8)]) },
		"no separators":  func(r *rand.Rand) string { return first[r.IntN(8)] },
		"ids": func(r *rand.Rand) string {
			return fmt.Sprintf("a%d;b%d", r.IntN(1_000_000), r.IntN(1_000_000))
		},
		"two separators": func(r *rand.Rand) string {
			return first[r.IntN(8)] + []string{", ", ";"}[r.IntN(2)] + first[r.IntN(8)]
		},
		"two blanks": func(r *rand.Rand) string {
			return first[r.IntN(8)] + []string{", ", ","}[r.IntN(2)] + first[r.IntN(8)]
		},
		"phrases": func(r *rand.Rand) string { return []string{"yes, please", "no, thanks", "maybe"}[r.IntN(3)] },
	} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 2))
			texts := make([]string, 300)
			for i := range texts {
				texts[i] = row(r)
			}
			c := taggedColumn(texts)
			if sep, n := c.tagged(); sep != "" {
				t.Errorf("%s: found %d tags with %q between them, expected none in %q", name, n, sep, texts[:3])
				break
			}
		}
	}
}
