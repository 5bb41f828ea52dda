package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func smallPicture() Picture {
	return Picture{Title: "t <b>", Types: []string{"a", "<i>"}, Groups: []PictureGroup{{Name: "a", Nodes: 1}, {Name: "<i>", Colour: 1, Nodes: 1}}, Links: []string{"a:r:<i>"},
		Nodes: []PictureNode{{Name: "a 0", Seed: true}, {X: 400, Y: -300, Type: 1, Group: 1, Name: "x\" onload=\"y", Label: "<script>"}},
		Edges: []PictureEdge{{From: 0, To: 1, Count: 2}, {From: 1, To: 1, Count: 1}}}
}

// A picture is XML in which names are no markup, with a title and a description, and a page shows it too.
func TestPicture(t *testing.T) {
	p := smallPicture()
	b, err := p.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(b))); ; {
		x, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if e, ok := x.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "b" || e.Name.Local == "i") {
			t.Errorf("found the element %s, which is a name", e.Name.Local)
		}
	}
	for _, part := range []string{`role="img"`, "<title id=\"picture-title\">t &lt;b&gt;</title>", "1 node of a, 1 of them seeds; 1 node of &lt;i&gt;; 3 edges of a:r:&lt;i&gt;.", "2 times"} {
		if !strings.Contains(string(b), part) {
			t.Errorf("found no %s in\n%s", part, b)
		}
	}
	r := New("draw", "t", "1", nil)
	r.Picture(p)
	page, err := r.Page()
	if err != nil || !strings.Contains(string(page), `<g class="picture">`) {
		t.Errorf("found no picture on the page, error %v", err)
	}
}

// Numbers of a picture that lead nowhere are refused.
func TestPictureRefuses(t *testing.T) {
	for name, change := range map[string]func(p *Picture){
		"edge":   func(p *Picture) { p.Edges[0].To = 2 },
		"link":   func(p *Picture) { p.Edges[0].Link = 1 },
		"group":  func(p *Picture) { p.Nodes[0].Group = 2 },
		"type":   func(p *Picture) { p.Nodes[0].Type = -1 },
		"place":  func(p *Picture) { p.Nodes[0].X = farthest + 1 },
		"colour": func(p *Picture) { p.Groups[0].Colour = 8 },
		"nodes":  func(p *Picture) { p.Nodes = make([]PictureNode, MostPictured+1) },
	} {
		p := smallPicture()
		change(&p)
		if _, err := p.SVG(); !errors.Is(err, errInvalid) {
			t.Errorf("%s: found the error %v, expected errInvalid", name, err)
		}
	}
}
