// Package database copies a database to a folder that package ingest reads: a CSV file for each table, and a graph.yaml that says
// what they mean.
//
// Open opens an address, sqlite:FILE or postgres://USER@HOST/DATABASE, and begins a snapshot: all tables are read as they were at one
// moment. Extract writes the folder. Rows are in the order of their key, so equal rows make equal files, wherever the database keeps them.
//
// CreateTable and CopyTable go the other way: they make a table in a file of SQLite, or in a database of PostgreSQL, whole or not at all.
//
// Query writes the result of one SELECT in the same way, in the order of all its columns.
//
// The graph is that which relational deep learning makes of a database: a node type for each table, an edge type TABLE:COLUMN:OTHER
// and its reverse for each foreign key, and edges instead of nodes for a table that has two foreign keys and no key of its own. Columns of
// foreign keys are no features. A column that is named as a time is a column of the nodes and of the edges of its table.
//
// Passwords come from the environment or from ~/.pgpass, and never from an address, so that no report or error has one.
package database
