package operation

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// NodeCounts returns the node types of a graph and the number of nodes of each.
func NodeCounts(g *graph.Graph) (types []string, counts []uint64) {
	for _, n := range g.Nodes {
		types, counts = append(types, n.Type), append(counts, uint64(n.Count))
	}
	return types, counts
}

// GraphName derives the name of a graph from its folder or file: the base name without extension.
func GraphName(path string) string {
	base := Titled(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" && name != "." {
		return name
	}
	return "graph"
}

// AssignmentInputs returns the fingerprints of the files of an assignment in a folder. Each key is a prefix and the name of
// the file.
func AssignmentInputs(ctx context.Context, dir, prefix string, a *assign.Assignment, r *report.Report) (map[string]string, error) {
	files, err := assign.Files(vfs.OS, dir, a)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for i, name := range files {
		files[i] = filepath.Join(dir, filepath.FromSlash(name))
		names[files[i]] = prefix + name
	}
	return Fingerprints(ctx, vfs.OS, files, r, func(file string) string { return names[file] })
}
