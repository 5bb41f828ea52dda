package graphml

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

const document = `<graphml>
<key id="a" for="node" attr.name="x" attr.type="int"><default>7</default></key>
<key id="b" attr.name="y"/><key id="c" for="graph" attr.name="z"/><key id="d" for="port"/>
<graph edgedefault="undirected"><data key="c">g</data>
<node id="n"/>
<edge source="n" target="m"
 directed="true"><data key="b"><![CDATA[<1>]]>&#65;</data><desc/></edge><node id="m"><data key="a"/><data key="d"><p><q/></p></data></node>
</graph><data key="c">h</data></graphml>
`

// dump reads a document into lines.
func dump(in io.Reader) (lines []string, err error) {
	r, err := NewReader(in, "g.graphml")
	if err != nil {
		return nil, err
	}
	lines = append(lines, fmt.Sprint(r.Directed, r.Keys))
	for {
		x, err := r.Next()
		if x == nil || err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%d %v %q %q>%q %v %q", x.Line, x.Edge, x.ID, x.Source, x.Target, x.Directed, x.Values))
	}
}

func TestReader(t *testing.T) {
	want := []string{
		"false [{a true false x int [55]} {b true true y string []}]",
		`5 false "n" "">"" false ["7" ""]`,
		`7 true "" "n">"m" true ["" "<1>A"]`,
		`7 false "m" "">"" false ["" ""]`,
	}
	for _, in := range []io.Reader{strings.NewReader(document), iotest.OneByteReader(strings.NewReader(document))} {
		got, err := dump(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("found\n%s\n%v, expected\n%s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
		}
	}
	boom := errors.New("boom")
	if _, err := dump(iotest.ErrReader(boom)); !errors.Is(err, boom) || errors.Is(err, ErrFormat) {
		t.Errorf("found %v, expected the error of the file", err)
	}
}

// No text makes the reader panic. What is read does not depend on how the bytes come.
func FuzzReader(f *testing.F) {
	f.Add(document)
	f.Add(`<!DOCTYPE x [<!ENTITY a "b">]><graphml><graph edgedefault="directed"><node id="&a;"/></graph></graphml>`)
	f.Add(`<?xml version="1.0"?><!-- c --><graphml xmlns:y="y"><y:key id=""/><graph edgedefault="x"/></graphml>`)
	f.Add(`<graphml><graph edgedefault="directed"><node id="a"><graph/></node></graph></graphml><a/>`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			a, err := dump(strings.NewReader(text))
			b, again := dump(iotest.OneByteReader(strings.NewReader(text)))
			if !slices.Equal(a, b) || (err == nil) != (again == nil) || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("found %q, %v, and byte by byte %q, %v", a, err, b, again)
			}
		})
	})
}

// An error of the input ends the reading, also where the bytes that came with it are a whole document.
func TestErrorWithBytes(t *testing.T) {
	failure := errors.New("input/output error")
	text := `<graphml><graph edgedefault="directed"><node id="a"/></graph></graphml>`
	r, err := NewReader(fuzzing.FailOnce(strings.NewReader(text), failure), "g.graphml")
	for err == nil {
		var x *Item
		if x, err = r.Next(); x == nil {
			break
		}
	}
	if !errors.Is(err, failure) {
		t.Errorf("found %v, expected %v", err, failure)
	}
}

// Nothing may come after the root element but comments and white space.
func TestAfterTheDocument(t *testing.T) {
	whole := `<graphml><graph edgedefault="directed"><node id="a"/></graph></graphml>`
	for after, bad := range map[string]bool{"": false, "\n<!-- end -->\n": false, "x": true, "<graphml/>": true} {
		r, err := NewReader(strings.NewReader(whole+after), "g.graphml")
		for err == nil {
			var x *Item
			if x, err = r.Next(); x == nil {
				break
			}
		}
		if (err != nil) != bad || bad && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: found %v", after, err)
		}
	}
}
