// Package bench has the command bench of graphmill, which measures the machine. It imports package graphmill, batch, draw,
// graph, internal/cli and internal/human.
package bench
