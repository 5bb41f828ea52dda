// Package dispatching has the command dispatch, for the binaries graphmill and graphmill-beam, and the flags that it shares with
// partition-graph.
package dispatching
