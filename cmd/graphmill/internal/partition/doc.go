// Package partition has the commands partition, dispatch and partition-graph of graphmill. It imports package graphmill
// and internal/cli.
package partition
