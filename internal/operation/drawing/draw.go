package drawing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/export/picture"
	"github.com/graphmill/graphmill/internal/export/replaceable"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// heads are the first bytes of pictures, by the ends of their names.
var heads = map[string]string{".svg": `<svg xmlns="http://www.w3.org/2000/svg" role="img"`, ".html": "<!doctype html>\n<html lang=\"en\">"}

// Draw draws a subgraph of the collection in the folder in, or the store there, into the file out, which ends with .svg or .html.
func Draw(ctx context.Context, in, out string, o option.Picture) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	switch filepath.Ext(out) {
	case ".svg", ".html":
	default:
		return nil, operation.Usagef("found `Out` %q, expected a file that ends with .svg or .html", out)
	}
	if err := replaceable.File(vfs.OS, out, o.Overwrite, func(head []byte) bool { return bytes.HasPrefix(head, []byte(heads[filepath.Ext(out)])) }); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "draw", operation.Titled(in))
	p, err := pictured(ctx, in, &o, r)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Head("nodes", report.Count(len(p.Nodes), "nodes"))
	edges := 0
	for _, e := range p.Edges {
		edges += e.Count
	}
	r.Head("edges", report.Count(edges, "edges"))
	r.Picture(*p)
	var b []byte
	if filepath.Ext(out) == ".svg" {
		b, err = p.SVG()
	} else {
		r.Threads = 0 // nor times, which differ from run to run
		b, err = r.Page()
	}
	if err != nil {
		return nil, err
	}
	if err := vfs.WriteFile(vfs.OS, out, b); err != nil {
		return nil, err
	}
	r.Output, r.Next = out, "open "+report.QuoteWord(out)+" in a browser"
	r.Finish(time.Since(start))
	return r, nil
}

// pictured reads what is drawn, and makes the picture.
func pictured(ctx context.Context, in string, o *option.Picture, r *report.Report) (_ *report.Picture, err error) {
	g, closing, err := Pick(ctx, in, o.Store, []int{o.Subgraph}, picture.Most, r)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, closing)
	if len(g.Nodes) == 0 {
		return nil, operation.Usagef("%s: found no nodes, expected some to draw; give another subgraph", in)
	}
	d := &drawer{g: g, o: o}
	title := r.Title
	if g.Collection {
		title = fmt.Sprintf("Subgraph %d of %s", o.Subgraph, operation.Titled(in))
	}
	return d.picture(title)
}

// Pick reads subgraphs of the collection in the folder in, or the store there. from is the folder of the store that the collection was sampled from; "" leaves out its
// ids and columns. The caller calls closing after the last use of the graph. It checks the inputs, and adds them to a report.
func Pick(ctx context.Context, in, from string, which []int, most picked.Limits, r *report.Report) (_ *picked.Graph, closing func() error, err error) {
	var open []*store.Store
	closing = func() error {
		var err error
		for _, s := range open {
			err = errors.Join(err, s.Close())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closing())
		}
	}()
	s, err := store.OpenMerged(vfs.OS, in, -1)
	if err != nil {
		return nil, closing, err
	}
	open = append(open, s)
	if _, err := operation.InputFolder(r, in); err != nil {
		return nil, closing, err
	}
	if s.Graph != nil {
		if from != "" {
			return nil, closing, operation.Usagef("%s: found a store with `Store`, expected a collection that was sampled from it; leave `Store` out", in)
		}
		for _, i := range which {
			if i != 0 {
				return nil, closing, operation.Usagef("%s: found subgraph %d of a store, expected a collection; leave it out", in, i)
			}
		}
		// The counts come first: to check a store reads all of it.
		if err := picked.Fits(s, most); err != nil {
			return nil, closing, err
		}
		if err := s.Check(ctx); err != nil {
			return nil, closing, err
		}
		g, err := picked.Store(s, most)
		return g, closing, err
	}
	var st *store.Store
	if from != "" {
		if st, err = store.OpenMerged(vfs.OS, from, -1); err != nil {
			return nil, closing, err
		}
		open = append(open, st)
		sum, err := operation.InputFolder(r, from)
		if err != nil {
			return nil, closing, err
		}
		want, sampled := s.Meta.Made.Inputs["store"]
		switch {
		case st.Graph == nil:
			return nil, closing, operation.Usagef("`Store` %s: found a collection, expected the store that %s was sampled from; give that", from, in)
		case !sampled:
			return nil, closing, operation.Usagef("%s: found a collection made by %s with `Store`, expected one that was sampled; leave `Store` out", in, s.Meta.Made.Command)
		case sum != want:
			return nil, closing, fmt.Errorf("%s: found a store with the checksum %s, expected %s, from which %s was sampled; give that store in `Store`", from, sum, want, in)
		}
	}
	g, err := picked.Subgraphs(s, st, which, most)
	if errors.Is(err, picked.ErrUsage) {
		err = operation.Usagef("%w", err)
	}
	return g, closing, err
}

// columnOf is a column of one value per row that types have, by node type; nil where a type lacks it.
func columnOf(g *picked.Graph, option, name string) ([]*picked.Series, error) {
	out := make([]*picked.Series, len(g.NodeTypes))
	var known []string
	found := false
	for t := range g.NodeTypes {
		for _, c := range g.NodeTypes[t].Columns {
			if !picked.Single(c) {
				continue
			}
			known = append(known, c.Name)
			if c.Name == name {
				out[t], found = picked.SeriesOf(c, g.NodeTypes[t].Columns), true
			}
		}
	}
	if found {
		return out, nil
	}
	if len(known) == 0 {
		if g.Sampled {
			return nil, operation.Usagef("found `%s` %q, and a sampled collection has no columns of its own; give `Store` with the store that it was sampled from", option, name)
		}
		return nil, operation.Usagef("found `%s` %q, expected it of a graph with columns of one value per node; leave it out", option, name)
	}
	return nil, operation.Usagef("found `%s` %q, expected one of %s", option, name, strings.Join(distinct(known), ", "))
}

// distinct are texts in their order, each once.
func distinct(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
