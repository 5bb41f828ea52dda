package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/exporting"
	"github.com/graphmill/graphmill/option"
)

// Export writes a collection as TFRecords, or a store as Parquet tables, a chunked graph or a graph of DGF or GraphAr, to the folder out, or a store as a METIS graph to
// the file out. A sampled collection holds its features by reference: option.Export.Store joins them.
func Export(ctx context.Context, in, out string, o option.Export) (*Report, error) {
	return exporting.Export(ctx, in, out, o)
}

// ExportPredictions writes arrays with a row per node, edge or pair of nodes of the store in the folder in, such as what a model computed, as a
// table with their original ids. out is a file that ends with .parquet, .arrow, .csv or, of SQLite, .db, or the address sqlite:FILE#TABLE or
// postgres://USER@HOST/DATABASE#TABLE. Tables of Parquet, Arrow and PostgreSQL have vectors as lists; the others have a column per value.
// With option.Predictions.Top the rows are made: the targets with the highest products of embeddings for each source.
func ExportPredictions(ctx context.Context, in, out string, o option.Predictions) (*Report, error) {
	return exporting.Predictions(ctx, in, out, o)
}

// Chunk writes the neighbours of all nodes of a store to the folder out as chunks: files of 32-bit words that a
// streaming sampler reads whole, one after the other (docs/format-chunk.md). Chunks hold neither features nor original
// ids: the report lists those that are left out.
func Chunk(ctx context.Context, in, out string, o option.Chunk) (*Report, error) {
	return exporting.Chunk(ctx, in, out, o)
}

// StoreToUnigraph writes a store to the folder out as a unigraph of TF-GNN: schema.pbtxt, and one table with all columns
// per node and edge type. The column #id has the original id of each node, or its number if the type has no ids.
func StoreToUnigraph(ctx context.Context, in, out string, o option.UnigraphTables) (*Report, error) {
	return exporting.StoreToUnigraph(ctx, in, out, o)
}

// ConvertUnigraph reads the tables of a unigraph in any mix of formats, and writes all of them to the folder out in one
// format, with the schema. A value that the format cannot hold is an error. Columns that the schema does not declare are
// left out, and the report lists them.
func ConvertUnigraph(ctx context.Context, schema, out string, o option.UnigraphTables) (*Report, error) {
	return exporting.ConvertUnigraph(ctx, schema, out, o)
}
