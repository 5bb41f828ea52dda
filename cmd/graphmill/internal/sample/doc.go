// Package sample has the commands forecast and feed of graphmill. It imports package graphmill, internal/cli,
// internal/cli/sampling, internal/feed, internal/field and internal/human.
package sample
