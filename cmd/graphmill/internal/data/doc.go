// Package data has the commands of graphmill that make, write and describe graphs: import, export, generate, chunk, info,
// verify and report. It imports package graphmill, internal/cli, internal/format/chunk, internal/human and
// internal/pack/layout.
package data
