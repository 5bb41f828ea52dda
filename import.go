package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Import reads a source, and writes it to the folder out: one graph becomes a store, many graphs become a collection.
// The source is a file or folder in one of the formats of DescribeImportFormats, the address of a database (sqlite:FILE or
// postgres://USER@HOST/DATABASE), "-" for Input, or "" if Indptr and Indices are
// given. The store does not depend on Memory or Threads. The caller closes it.
func Import(ctx context.Context, source, out string, o option.Import) (*Store, error) {
	s, r, err := importing.Import(ctx, source, out, o, nil)
	return opened(s, r, err)
}

// DescribeImportFormats describes the formats that Import reads.
func DescribeImportFormats() []report.ImportFormat {
	return importing.DescribeImportFormats()
}

// GenerateRMAT makes the R-MAT graph of Graph500 (A = 0.57, B = 0.19, C = 0.19) with nodes renumbered at random, and
// writes it to the folder out. The same parameters give the same graph on every machine. The caller closes the store.
func GenerateRMAT(ctx context.Context, out string, o option.RMAT) (*Store, error) {
	s, r, err := importing.GenerateRMAT(ctx, out, o)
	return opened(s, r, err)
}

// GenerateLike makes a graph with the published sizes of a data set: as many nodes and edges of each type, as wide features, as many classes, and a split of the same sizes. Which edges
// there are is made up, with degrees by a power law, and so are the values. It writes the graph to the folder out. The same parameters give the same graph on every machine. A disk without
// room for the forecast of the run is an error before anything is written. The caller closes the store.
func GenerateLike(ctx context.Context, out string, o option.Like) (*Store, error) {
	s, r, err := importing.GenerateLike(ctx, out, o)
	return opened(s, r, err)
}

// GenerateCommunity makes an undirected graph with communities inside regions, and writes it to the folder out. It serves
// to compare partitioners. Each pair of neighbours is listed once. The density of degree d is proportional to d^(-7/3);
// 65 % of the edges stay in their community, 20 % in its region, and 15 % go anywhere. The same parameters give the same
// graph on every machine. The caller closes the store.
func GenerateCommunity(ctx context.Context, out string, o option.Community) (*Store, error) {
	s, r, err := importing.GenerateCommunity(ctx, out, o)
	return opened(s, r, err)
}
