package drawing

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/export/replaceable"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// MostNodes is the default of option.Export.MostNodes: programs that draw become slow beyond it. linksPerNode bounds the edges.
const (
	MostNodes    = 10_000
	linksPerNode = 20
)

// File writes a few subgraphs of the collection in the folder in, or the store there, to the file out, as GraphML or node-link JSON.
func File(ctx context.Context, in, out string, o *option.Export, r *report.Report) (err error) {
	start := time.Now()
	if out == "" {
		return operation.Usagef("found no `Out`, expected a file to write; give `Out`")
	}
	ours := func(head []byte) bool { return bytes.HasPrefix(head, []byte(picked.GraphMLHead)) }
	if o.To == option.FormatNodeLink {
		ours = func(head []byte) bool { return bytes.HasPrefix(head, []byte(picked.NodeLinkHead)) }
	}
	if err := replaceable.File(vfs.OS, out, o.Overwrite, ours); err != nil {
		return err
	}
	which, err := parseNumbers(o.Subgraphs)
	if err != nil {
		return err
	}
	if o.Subgraphs != "" {
		if err := wantCollection(in); err != nil {
			return err
		}
	}
	g, closing, err := Pick(ctx, in, o.Store, which, picked.Limits{Nodes: o.MostNodes, Edges: linksPerNode * o.MostNodes}, r)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, out, closing)
	operation.WarnLeft(&o.Run, r, g.Left())
	if g.Sampled && o.Store == "" {
		operation.Note(&o.Run, "the file has neither ids nor columns, which are in the store that the collection was sampled from; give `Store` to write them")
	}
	if gaps := g.Gaps(); len(gaps) > 0 {
		operation.Note(&o.Run, "the file leaves out values that some nodes or edges lack, of %s; to import it again, give `Missing` column", strings.Join(gaps, ", "))
	}
	var b []byte
	if o.To == option.FormatGraphML {
		b = g.GraphML()
	} else if b, err = g.NodeLink(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := vfs.WriteFile(vfs.OS, out, b); err != nil {
		return err
	}
	r.Head("nodes", report.Count(len(g.Nodes), "nodes"))
	r.Head("edges", report.Count(len(g.Edges), "edges"))
	r.Head("on disk", report.Bytes(int64(len(b))))
	r.Output = out
	r.Next = fmt.Sprintf(`python -c "import networkx; print(networkx.read_graphml('%s'))"`, out)
	if o.To == option.FormatNodeLink {
		r.Next = fmt.Sprintf(`python -c "import json, networkx; print(networkx.node_link_graph(json.load(open('%s')), edges='links'))"`, out)
	}
	if strings.ContainsAny(out, "'\"\\$`!\n") { // neither Python nor the shell would read it so
		r.Next = "graphmill import " + report.QuoteWord(out) + Shell(" `Out` STORE")
	}
	r.Finish(time.Since(start))
	return nil
}

// wantCollection refuses numbers of subgraphs with a store, which has none.
func wantCollection(in string) error {
	s, err := store.OpenMerged(vfs.OS, in, -1)
	if err != nil {
		return err
	}
	graph := s.Graph != nil
	if err := s.Close(); err != nil {
		return err
	}
	if graph {
		return operation.Usagef("%s: found `Subgraphs` of a store, expected a collection, which has some; leave it out", in)
	}
	return nil
}

// Shell is a command with flags in the places of fields.
func Shell(line string) string {
	return options.Flags(line, func(string) bool { return true })
}

// parseNumbers reads "0,5,7"; "" is nil, which is all.
func parseNumbers(s string) (which []int, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 {
			return nil, operation.Usagef("found `Subgraphs` %q, expected numbers from 0 with commas between them, such as 0,5,7", s)
		}
		which = append(which, n)
	}
	return which, nil
}
