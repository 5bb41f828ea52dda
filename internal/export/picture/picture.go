// Package picture lays a small graph out as a picture of a report.
package picture

import (
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/layout"
	"github.com/graphmill/graphmill/report"
)

// Most are the nodes and edges of a picture that people can still read.
var Most = picked.Limits{Nodes: report.MostPictured, Edges: 10 * report.MostPictured}

// Colours is the number of colours that are told apart.
const Colours = 8

// Of is the picture of a graph: seeds in the middle and each hop on a ring around them, or placed by forces where there are no seeds, with a colour per node type. With wide,
// nodes without rings have room for labels beside them.
func Of(g *picked.Graph, title string, wide bool) *report.Picture {
	p := &report.Picture{Title: title}
	for t, of := range g.NodeTypes {
		p.Types = append(p.Types, of.Type)
		p.Groups = append(p.Groups, report.PictureGroup{Name: of.Type, Colour: t % Colours})
	}
	for _, t := range g.EdgeTypes {
		p.Links = append(p.Links, t.Type.String())
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		p.Nodes = append(p.Nodes, report.PictureNode{Type: n.Type, Seed: n.Seed, Name: nodeName(g, n), Group: n.Type})
		p.Groups[n.Type].Nodes++
	}
	addEdges(p, g)
	placeNodes(p, g, wide)
	return p
}

// nodeName returns the text that a browser shows for the node under the pointer.
func nodeName(g *picked.Graph, n *picked.Node) string {
	s := g.NodeTypes[n.Type].Type + " " + g.ID(n).Text
	if n.Seed {
		return s + ", seed"
	}
	if n.Hop > 0 {
		s += fmt.Sprintf(", hop %d", n.Hop)
	}
	return s
}

// addEdges adds the edges, those with equal ends and types as one.
func addEdges(p *report.Picture, g *picked.Graph) {
	at := map[report.PictureEdge]int{}
	for _, e := range g.Edges {
		edge := report.PictureEdge{From: e.Source, To: e.Target, Link: e.Type}
		i, seen := at[edge]
		if !seen {
			i = len(p.Edges)
			at[edge] = i
			p.Edges = append(p.Edges, edge)
		}
		p.Edges[i].Count++
	}
}

// placeNodes lays the nodes out.
func placeNodes(p *report.Picture, g *picked.Graph, wide bool) {
	var edges []layout.Edge
	for _, e := range p.Edges {
		edges = append(edges, layout.Edge{A: e.From, B: e.To})
	}
	var hops, seeds []int
	for i, n := range g.Nodes {
		hops = append(hops, n.Hop)
		if n.Seed {
			seeds = append(seeds, i)
			hops[i] = 0
		}
	}
	var points []layout.Point
	if len(seeds) == 0 {
		points = layout.Forces(len(g.Nodes), edges)
	} else {
		if slices.Min(hops) < 0 { // subgraphs of other kinds than directional ones have no hops
			hops = layout.Hops(len(hops), seeds, edges)
		}
		points, p.Radial = layout.Radial(hops, edges), true
	}
	for i, at := range points {
		if wide && !p.Radial {
			at.X, at.Y = at.X*8/5, at.Y*8/5
		}
		p.Nodes[i].X, p.Nodes[i].Y = at.X, at.Y
	}
}
