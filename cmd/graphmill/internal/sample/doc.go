// Package sample has the commands sample, forecast and feed of graphmill: subgraphs into files, what that would take, and
// batches for trainers. It imports package graphmill, internal/cli, internal/feed, internal/field and internal/human.
package sample
