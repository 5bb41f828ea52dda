// Package sample has the commands sample, forecast and feed of graphmill. It imports package graphmill, internal/cli,
// internal/feed, internal/field and internal/human.
package sample
