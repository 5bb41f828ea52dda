// Package partition has the commands partition and partition-graph of graphmill.
package partition
