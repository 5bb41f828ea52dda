package report

import (
	"fmt"
	"math"
)

// HeatMap is a plot of values over two numbers: the graphs by numbers of nodes and edges, or how full packs are
// under two limits.
type HeatMap struct {
	Title string `json:"title"`
	// X and Y name the axes, and Value names the number that the colour shows.
	X     string `json:"x"`
	Y     string `json:"y"`
	Value string `json:"value"`
	// Low and High are the ends of the colour scale; values outside have the colour of the nearer end. Log makes the
	// scale logarithmic, and Share says that the values are shares of one.
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Log   bool    `json:"log,omitempty"`
	Share bool    `json:"share,omitempty"`
	// Numbered says that X and Y are numbers of things, such as parts: each thing has a cell of width 1 from its number on,
	// and its number under the middle of the cell.
	Numbered bool       `json:"numbered,omitempty"`
	Cells    []HeatCell `json:"cells"`
}

// HeatCell is the rectangle [X0, X1) x [Y0, Y1) with its value.
type HeatCell struct {
	X0    float64 `json:"x0"`
	X1    float64 `json:"x1"`
	Y0    float64 `json:"y0"`
	Y1    float64 `json:"y1"`
	Value float64 `json:"value"`
}

// maxCells bounds a heat map; a screen cannot show more.
const maxCells = 20_000

// Heat adds a heat map.
func (r *Report) Heat(h HeatMap) { r.HeatMaps = append(r.HeatMaps, h) }

func (h *HeatMap) check() error {
	if len(h.Cells) > maxCells {
		return fmt.Errorf("found %d cells, expected at most %d", len(h.Cells), maxCells)
	}
	finite := func(all ...float64) bool {
		for _, f := range all {
			if math.IsNaN(f) || math.Abs(f) > 1e15 {
				return false
			}
		}
		return true
	}
	if !finite(h.Low, h.High) || h.Low >= h.High || h.Log && h.Low <= 0 {
		return fmt.Errorf("found colours from %v to %v, expected ascending numbers, above 0 for a logarithmic scale", h.Low, h.High)
	}
	for i, c := range h.Cells {
		if !finite(c.X0, c.X1, c.Y0, c.Y1, c.Value) || c.X0 >= c.X1 || c.Y0 >= c.Y1 {
			return fmt.Errorf("cell %d: found %+v, expected finite numbers and an area", i, c)
		}
	}
	return nil
}
