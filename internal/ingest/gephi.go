package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// gephiUndirected says whether the edges of a table that Gephi wrote are undirected: the column Type of a table with Source and Target
// says so. The note is a warning. It reads the column once.
func gephiUndirected(ctx context.Context, t table.Table, fields []looks, src, dst string) (undirected bool, note string, err error) {
	f := field(fields, "Type")
	if f == nil {
		f = field(fields, "type")
	}
	if f == nil || f.DType != graph.String || !strings.EqualFold(src, "source") || !strings.EqualFold(dst, "target") {
		return false, "", nil
	}
	const most = 4
	found, err := table.Collect(ctx, t, []table.Column{{Name: f.Name, DType: graph.String}}, 1, table.Limits{Categories: most})
	if errors.Is(err, table.ErrFormat) {
		return false, "", nil // there are other types of edges than Gephi's, or the scan names what is wrong
	}
	if err != nil {
		return false, "", err
	}
	directed := false
	for _, text := range found[0].Texts() {
		switch strings.ToLower(text) {
		case "undirected":
			undirected = true
		case "directed", "mutual":
			directed = true
		default:
			return false, "", nil
		}
	}
	switch {
	case undirected && directed:
		return false, fmt.Sprintf("%s: column %q: found directed and undirected edges, and reads each in the direction of its row; write the undirected ones in both directions", t.Files()[0], f.Name), nil
	case undirected:
		note = fmt.Sprintf("%s: column %q says that the edges are undirected, so the reverse of each edge is added", t.Files()[0], f.Name)
	}
	return undirected, note, nil
}
