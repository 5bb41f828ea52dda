// Package partition has the commands partition and partition-graph of graphmill. It imports package graphmill, internal/cli and
// internal/cli/dispatching.
package partition
