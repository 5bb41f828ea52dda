package dispatching

import (
	"fmt"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// reportStored reports the contents of the parts.
func reportStored(o *option.Run, r *report.Report, d *dispatch.Report, f dispatch.Forecast, took time.Duration) {
	var nodes, edges, haloNodes, haloEdges uint64
	table := report.Table{Title: "Parts as they are stored", Columns: []string{"part", "nodes", "halo nodes", "inner share", "edges", "halo edges", "bytes"}}
	var own, halo, bytes []uint64
	for p, x := range d.Parts {
		own, halo, bytes = append(own, uint64(x.OwnNodes)), append(halo, uint64(x.HaloNodes)), append(bytes, uint64(x.Bytes))
		nodes, haloNodes = nodes+uint64(x.OwnNodes), haloNodes+uint64(x.HaloNodes)
		edges, haloEdges = edges+x.OwnEdges, haloEdges+x.HaloEdges
		if p < dividing.ShownParts {
			table.Rows = append(table.Rows, []report.Value{report.Count(p, ""), report.Count(x.OwnNodes, ""), report.Count(x.HaloNodes, ""),
				report.Share(share(x.OwnNodes, x.HaloNodes)), report.Count(x.OwnEdges, ""), report.Count(x.HaloEdges, ""), report.Bytes(x.Bytes)})
		}
	}
	r.Head("parts", report.Count(len(d.Parts), "parts"))
	r.Head("edges", report.Count(edges, "edges"))
	r.Head("edges per second", report.Number(float64(edges)/took.Seconds(), "/s"))
	r.Head("on disk", report.Bytes(d.Bytes))
	r.Out("nodes", report.Count(nodes, "nodes"))
	r.Out("edges", report.Count(edges, "edges"))
	r.Out("halo nodes", report.Count(haloNodes, "halo nodes"))
	r.Out("halo edges", report.Count(haloEdges, "halo edges"))
	r.Out("own nodes, of all nodes in the parts", report.Share(share(int(nodes), int(haloNodes))))
	r.Out("parts made at once", report.Count(d.AtOnce, "parts"))
	if f.Bytes > 0 { // a cluster makes no forecast
		r.Out("forecast of disk space", report.Bytes(f.Bytes))
		r.Out("forecast of memory", report.Bytes(f.Memory))
		r.Out("forecast of time", report.Seconds(f.Seconds))
	}
	if len(d.Parts) > dividing.ShownParts {
		r.Note(fmt.Sprintf("the table lists the first %d of %d parts", dividing.ShownParts, len(d.Parts)))
	}
	r.Table(table)
	dividing.PlotParts(r, "Nodes of parts", "nodes", dividing.PartValues{Name: "nodes", Values: own}, dividing.PartValues{Name: "halo nodes", Values: halo})
	dividing.PlotParts(r, "Bytes of parts", "bytes", dividing.PartValues{Name: "bytes", Values: bytes})
	if len(d.LeftOut) > 0 {
		what := "left out, as columns, ids or parts of them: " + strings.Join(d.LeftOut, "; ")
		operation.WarnCount(o, r, int64(len(d.LeftOut)), what)
	}
	if len(d.Gaps) > 0 {
		what := "types are not in every part; " + parts.GapsMeaning + ": " + strings.Join(d.Gaps, "; ")
		operation.WarnCount(o, r, int64(len(d.Gaps)), what)
	}
	if len(d.Widened) > 0 {
		r.Note("columns with dtypes that PyTorch does not have are widened: " + strings.Join(d.Widened, "; "))
	}
}

// share returns own / (own + halo).
func share(own, halo int) float64 {
	if own+halo == 0 {
		return 1
	}
	return float64(own) / float64(own+halo)
}
