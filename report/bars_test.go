package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func eightParts() Bars {
	b := Bars{Title: "Sizes of parts", X: "part", Y: "nodes", Names: []string{"0", "1", "2", "3", "4", "5", "6", "7"}}
	b.Series = []BarSeries{{"nodes", []uint64{10, 12, 9, 10, 11, 10, 10, 8}}, {"volume", []uint64{3, 4, 2, 0, 5, 4, 3, 3}}}
	return b
}

// Eight parts are eight bars of each series, except bars of 0, and each part has a tooltip.
func TestBars(t *testing.T) {
	r := New("partition", "Parts", "1", nil)
	r.Bar(eightParts())
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]int{"bar s0": 8, "bar s1": 7, "hit": 8} {
		if got := bytes.Count(page, []byte(`<rect class="`+class+`"`)); got != want {
			t.Errorf("found %d of class %s, expected %d", got, class, want)
		}
	}
	for _, want := range []string{"<title>part 3 · nodes: 10 · volume: 0</title>", "nodes: 8 to 12.", "most to mean"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("found no %q on the page", want)
		}
	}
}

// Sizes in bytes have round numbers of KiB, MiB, ... on the axis.
func TestBarsOfBytes(t *testing.T) {
	b := Bars{Title: "Bytes", X: "part", Y: "bytes", Names: []string{"0"}, Series: []BarSeries{{"bytes", []uint64{3 << 20}}}}
	svg := string(b.draw("b"))
	for _, want := range []string{">1 MiB<", ">3 MiB<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("found no label %q in %s", want, svg)
		}
	}
}

func TestBadBars(t *testing.T) {
	for name, change := range map[string]func(*Bars){
		"a value too few": func(b *Bars) { b.Series[0].Values = b.Series[0].Values[:7] },
		"too many":        func(b *Bars) { b.Names = make([]string, MostBars+1) },
		"too many series": func(b *Bars) { b.Series = make([]BarSeries, seriesColours+1) },
	} {
		b := eightParts()
		change(&b)
		r := New("partition", "Parts", "1", nil)
		r.Bar(b)
		if _, err := r.HTML(); !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "bars 0") {
			t.Errorf("%s: found error %v, expected %v", name, err, errInvalid)
		}
	}
}

// What is between two things is listed once, and each thing has its number under the middle of its cells.
func TestNumberedHeatMap(t *testing.T) {
	h := HeatMap{Title: "Pairs between parts", X: "part", Y: "part", Value: "pairs", High: 9, Numbered: true,
		Cells: []HeatCell{{1, 2, 0, 1, 9}, {0, 1, 1, 2, 9}, {2, 3, 0, 1, 4}, {0, 1, 2, 3, 4}}}
	if p := h.peaks(); len(p) != 2 || p[0].Value != 9 || p[1].Value != 4 {
		t.Errorf("found the peaks %+v, expected 9 and 4 once", p)
	}
	if m := middles(0, 3); len(m) != 3 || m[2] != (tick{2.5, "2"}) {
		t.Errorf("found the ticks %+v, expected three in the middle of the cells", m)
	}
}
