// Package table reads input tables: rows of typed columns out of CSV, npy and
// TFRecord files, whole or in shards.
//
// A Table says what fields its files declare, scans the columns that are asked
// for, and names the place of a row for messages. A scan reads chunks of rows
// with several workers at once and bounded memory; each chunk carries the number
// of its first row, so a consumer can restore the input order whatever order the
// chunks come in. The same rows with the same numbers come at any thread count.
//
// The package knows files, rows and values; what they mean (ids, ends of edges,
// features) is the business of packages ingest and ingest/build. It imports
// graph (for dtypes), format/* and internal/*.
package table
