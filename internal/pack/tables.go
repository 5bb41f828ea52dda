package pack

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/report"
)

// PublishedCap is the largest number of graphs per pack in the published tables.
const PublishedCap = 256

type (
	// Properties is a column of the first table of "Tuple Packing".
	Properties = report.PackProperties
	// ComparisonRow is a row of the second table.
	ComparisonRow = report.PackComparison
)

// PropertiesOf measures a histogram.
func PropertiesOf(h *Histogram) Properties {
	p := Properties{Graphs: h.Graphs(), Shapes: len(h.Counts)}
	for j := range h.Components {
		most := h.Max(j)
		e := h.Efficiency(j, p.Graphs, most)
		p.Max, p.Efficiency, p.Speedup = append(p.Max, most), append(p.Efficiency, e), append(p.Speedup, 1/e)
	}
	return p
}

// Compare computes the second table of "Tuple Packing" for a histogram. The limits are the largest sizes; a
// pack has at most maxGraphs graphs. The row "minimum, as published" uses the heuristic max, as the published
// row did. The baselines of one component ignore the limits of the others.
func Compare(ctx context.Context, h *Histogram, maxGraphs int, effort float64, threads int) ([]ComparisonRow, error) {
	limits := make([]int, len(h.Components))
	for j := range limits {
		limits[j] = h.Max(j)
	}
	var rows []ComparisonRow
	add := func(name string, limits []int, maxGraphs int, opt Options) error {
		opt.Effort, opt.Threads = effort, threads
		if opt.Heuristic == "product" && (&heuristic{name: "product"}).check(limits) != nil {
			rows = append(rows, ComparisonRow{Name: name})
			return nil
		}
		r, err := Solve(ctx, &Problem{Histogram: h, Limits: limits, MaxGraphs: maxGraphs}, opt)
		if err != nil {
			return err
		}
		row := ComparisonRow{Name: name, Packs: r.Packs()}
		used, _ := r.Used(h)
		for j := range limits {
			row.Efficiency = append(row.Efficiency, h.Efficiency(j, row.Packs, used[j]))
		}
		rows = append(rows, row)
		return nil
	}
	type way struct {
		name, method, heuristic string
		limits                  []int
		cap                     int
	}
	ways := []way{
		{"product", "dlpfhp", "product", limits, maxGraphs},
		{"sum", "dlpfhp", "sum", limits, maxGraphs},
		{"maximum", "dlpfhp", "max", limits, maxGraphs},
		{"minimum, as published", "dlpfhp", "max", limits, maxGraphs},
		{"minimum", "dlpfhp", "min", limits, maxGraphs},
	}
	for _, name := range h.Components {
		ways = append(ways, way{name, "dlpfhp", name, limits, maxGraphs})
	}
	ways = append(ways, way{"none", "none", "", limits, maxGraphs})
	for j, name := range h.Components {
		free := slices.Clone(limits)
		for i := range free {
			if i != j {
				free[i] = maxSize
			}
		}
		ways = append(ways, way{name + " only", "dlpfhp", name, free, maxGraphs})
	}
	ways = append(ways, way{"auto", "auto", "", limits, maxGraphs}, way{"auto, no cap", "auto", "", limits, 0})
	for _, w := range ways {
		if err := add(w.name, w.limits, w.cap, Options{Method: w.method, Heuristic: w.heuristic}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
