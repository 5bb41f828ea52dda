package rdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func show(t *Triple) string {
	switch {
	case !t.Some:
		return "none"
	case t.Literal:
		return fmt.Sprintf("%s %s literal %v", t.Subject, t.Predicate, t.Graph)
	}
	return fmt.Sprintf("%s %s %s %v", t.Subject, t.Predicate, t.Object, t.Graph)
}

func TestParse(t *testing.T) {
	var x Triple
	for line, want := range map[string]string{
		"":                                      "none",
		"  # a comment":                         "none",
		"<a> <b> <c> .":                         "a b c false",
		"<a>\t<b>\t<c>.":                        "a b c false",
		"  <a><b><c>.  # end":                   "a b c false",
		"_:x <b> _:y1.2 .":                      "_:x b _:y1.2 false",
		"_:x <b> _:y.":                          "_:x b _:y false",
		`<http://e/\u00e9\U0001F600> <b> <c> .`: "http://e/é😀 b c false",
		`<a> <b> "text with \"quotes\" . \u00e9" .`:                 "a b literal false",
		`<a> <b> "x"@en-GB .`:                                       "a b literal false",
		`<a> <b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .`: "a b literal false",
		"<a> <b> <c> <g> .":                                         "a b c true",
		`<a> <b> "x"@en _:g .`:                                      "a b literal true",
		"<a> <b> <c> .\r":                                           "a b c false",
	} {
		if problem, at := x.Parse([]byte(line)); problem != "" || show(&x) != want {
			t.Errorf("%q: found %s, %q at %d, expected %s", line, show(&x), problem, at, want)
		}
	}
	for line, want := range map[string]string{
		"<a> <b>":                   "7 found the end of the line, expected an object",
		"<a> <b> <c>":               "11 found the end of the line, expected a full stop",
		"<a> _:b <c> .":             `4 found "_:b", expected a predicate`,
		`"a" <b> <c> .`:             `0 found "\"a\"", expected a subject`,
		"<a> <b> <c .":              `8 found "<c", expected an object: an IRI in angle brackets, a blank node or a literal in quotes, with a '>'`,
		"<a b> <b> <c> .":           `2 found " b> <b> <c> .", expected an IRI without spaces`,
		"<> <b> <c> .":              `0 found "<>", expected a subject`,
		"<<<a> <b> <c>>> <d> <e> .": "triples within triples are not read",
		`<a\u00g0> <b> <c> .`:       `2 found "\\u00g0>", expected \u and four`,
		`<a\ud800> <b> <c> .`:       `expected \u and four`,
		`<a> <b> "c .`:              "8 found",
		`<a> <b> "c\x" .`:           "expected one of the escapes",
		`<a> <b> "c"@ .`:            "expected a language",
		`<a> <b> "c"^<d> .`:         "expected ^^",
		`<a> <b> "c"^^d .`:          "expected the IRI of a type",
		"<a> <b> <c> . <d>":         `14 found "<d>", expected nothing after the full stop`,
		"_: <b> <c> .":              "expected a subject",
		"x <b> <c> .":               "expected a subject",
	} {
		problem, at := x.Parse([]byte(line))
		if got := fmt.Sprint(at, " ", problem); problem == "" || x.Some || !strings.Contains(got, want) {
			t.Errorf("%q: found %q, expected %q", line, got, want)
		}
	}
}

// No line makes the parser panic. A triple that is accepted has terms, and is the same when it is written again.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"<a> <b> <c> .", `_:x <b\u00e9> "l\n"@en <g> . # c`, `<a> <b> "1"^^<t> _:g .`, "<<<a> <b> <c>>> <d> <e> .", `"\u`, "_:.", "<a> <b> _:..."} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fuzzing.Check(t, len(line), func() {
			var x, y Triple
			problem, at := x.Parse(line)
			if problem != "" {
				if at < 0 || at > len(line) || x.Some {
					t.Errorf("%q: found a problem at %d", line, at)
				}
				return
			}
			if !x.Some || x.Literal {
				return
			}
			term := func(b []byte) string {
				if strings.HasPrefix(string(b), "_:") {
					return string(b)
				}
				return "<" + strings.ReplaceAll(string(b), `\`, `\u005c`) + ">"
			}
			again := fmt.Sprintf("%s %s %s .", term(x.Subject), term(x.Predicate), term(x.Object))
			problem, _ = y.Parse([]byte(again))
			if y.Graph = x.Graph; problem != "" || show(&y) != show(&x) {
				t.Errorf("%q: found %s after %s (%s)", line, show(&y), show(&x), problem)
			}
		})
	})
}
