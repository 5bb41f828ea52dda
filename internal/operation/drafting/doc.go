// Package drafting drafts a graph.yaml for tables of files or of a database.
package drafting
