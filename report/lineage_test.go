package report

import (
	"bytes"
	"errors"
	"testing"
)

func packsLineage() *Lineage {
	return &Lineage{Version: "1", Steps: []LineageStep{
		{Name: "tables", Files: 14, Bytes: 300_000, Inputs: []int{}},
		{Name: "g <b>.store", Found: true, Folder: "g <b>.store", Fingerprint: "xxh3:1", Command: "import", Version: "1", Bytes: 2 << 20, ElapsedSeconds: 0.9, PeakRSS: 40 << 20, Page: true, Inputs: []int{0},
			Warnings: []LineageWarning{{12, "dangling edges dropped"}}},
		{Name: "subgraphs", Found: true, Folder: "subgraphs", Fingerprint: "xxh3:2", Command: "sample", Version: "1", Bytes: 1 << 20, ElapsedSeconds: 1.2, PeakRSS: 30 << 20, Page: true, Inputs: []int{1}},
		{Name: "layout", Fingerprint: "xxh3:3", Inputs: []int{}},
		{Name: "packs", Found: true, Folder: "packs", Fingerprint: "xxh3:4", Command: "pack materialise", Version: "1", Bytes: 3 << 20, Page: true, Inputs: []int{2, 3}},
	}}
}

func TestLineageGolden(t *testing.T) {
	l := packsLineage()
	page, err := l.HTML(func(folder string) string { return "../" + folder })
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "lineage.html", page)
	var text bytes.Buffer
	if err := l.Text(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "lineage.txt", text.Bytes())
	if !bytes.Contains(page, []byte(LineageMark)) || bytes.Contains(page, []byte("<b>.store")) {
		t.Error("found a page without the mark of a lineage, or with a name that is not escaped")
	}
}

// Every step is drawn below its inputs, whatever their number, and inside the drawing.
func TestLineagePlaces(t *testing.T) {
	l := &Lineage{}
	for i := range 30 {
		s := LineageStep{Name: "x"}
		for in := max(i-4, 0); in < i; in += 2 {
			s.Inputs = append(s.Inputs, in)
		}
		l.Steps = append(l.Steps, s)
	}
	boxes, height := l.place()
	for i, b := range boxes {
		if b.x < 0 || b.x+b.w > plotWidth || b.y+boxHeight > height {
			t.Errorf("found step %d at %+v, outside of the drawing", i, b)
		}
		for _, in := range l.Steps[i].Inputs {
			if boxes[in].y+boxHeight >= b.y {
				t.Errorf("found step %d beside or above its input %d", i, in)
			}
		}
	}
}

func TestBadLineage(t *testing.T) {
	l := packsLineage()
	l.Steps[1].Inputs = []int{1}
	if _, err := l.HTML(func(string) string { return "" }); !errors.Is(err, errInvalid) {
		t.Errorf("found error %v for a step that reads itself, expected %v", err, errInvalid)
	}
}
