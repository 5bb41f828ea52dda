package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
)

func heat() HeatMap {
	return HeatMap{Title: "Graphs by size", X: "num_edges", Y: "num_nodes", Value: "graphs", Low: 1, High: 100, Log: true,
		Cells: []HeatCell{{0, 1, 0, 1, 1}, {1, 2, 0, 1, 10}, {1, 2, 1, 2, 100}, {2, 3, 2, 3, 1000}}}
}

// A heat map has a colour bar, and a cell with a tooltip for each value. JSON keeps it.
func TestHeatMap(t *testing.T) {
	r := New("pack", "Packs", "1", []string{"graphmill", "pack"})
	r.Heat(heat())
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Graphs by size", "↑ num_nodes", "num_edges →", ">≥ 100</text>", ">graphs</text>",
		`class="cell h0"`, `class="cell h5"`, `class="cell h9"`, "<title>10 · num_edges 1 · num_nodes 0</title>",
		"The largest is 1k, at num_edges 2 and num_nodes 2."} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("found no %q on the page", want)
		}
	}
	if bytes.Contains(page, []byte("quantiles")) {
		t.Error("found a table of quantiles next to a heat map")
	}
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	page2, err := again.HTML()
	if err != nil || !bytes.Equal(page, page2) {
		t.Errorf("found another page after JSON, %v", err)
	}
}

func TestHeatMapShares(t *testing.T) {
	h := heat()
	h.Low, h.High, h.Log, h.Share = 0.5, 1, false, true
	if h.level(0.2) != 0 || h.level(1) != heatLevels-1 || h.level(0.75) != heatLevels/2 {
		t.Errorf("found levels %d, %d, %d", h.level(0.2), h.level(1), h.level(0.75))
	}
	r := New("pack tune", "Limits", "1", nil)
	r.Heat(h)
	empty := heat()
	empty.Cells = nil
	r.Heat(empty)
	page, err := r.HTML()
	if err != nil || !bytes.Contains(page, []byte("≥ 100%</text>")) || !bytes.Contains(page, []byte("Nothing to draw")) {
		t.Errorf("found %v", err)
	}
}

func TestBadHeatMaps(t *testing.T) {
	for name, change := range map[string]func(*HeatMap){
		"no colours": func(h *HeatMap) { h.High = h.Low },
		"log of 0":   func(h *HeatMap) { h.Low = 0 },
		"NaN":        func(h *HeatMap) { h.Cells[0].Value = math.NaN() },
		"infinite":   func(h *HeatMap) { h.Cells[0].X1 = math.Inf(1) },
		"no area":    func(h *HeatMap) { h.Cells[0].Y1 = h.Cells[0].Y0 },
		"too many":   func(h *HeatMap) { h.Cells = make([]HeatCell, maxCells+1) },
	} {
		h := heat()
		change(&h)
		r := New("pack", "Packs", "1", nil)
		r.Heat(h)
		if _, err := r.HTML(); !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "heat map 0") {
			t.Errorf("%s: found error %v, expected %v", name, err, errInvalid)
		}
	}
}
