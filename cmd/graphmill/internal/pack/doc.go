// Package pack has the command pack of graphmill and its commands fill, materialise, hist, tables and tune. It imports
// package graphmill and internal/cli.
package pack
