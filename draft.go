package graphmill

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/internal/operation/drafting"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Draft guesses what the tables of a source mean, and writes a graph.yaml that Import reads to w, with a comment for each guess. The
// source is a folder of tables (CSV, TSV, JSON lines, Parquet, Arrow), one such file, or the address of a database
// (sqlite:FILE or postgres://USER@HOST/DATABASE). The file belongs into that folder, or beside the database.
//
// The result lists all faults of the tables. Where none of them is Open, Import takes the file as it is. The bytes do not depend on Memory
// or Threads.
func Draft(ctx context.Context, source string, w io.Writer, o option.Draft) (*report.Draft, error) {
	return drafting.Draft(ctx, source, w, o)
}
