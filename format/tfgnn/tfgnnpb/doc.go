// Package tfgnnpb is the Go code of TF-GNN's messages GraphSchema and SamplingSpec, and of the messages in them, with
// TF-GNN's field numbers. The code is generated from tfgnn.proto. Package tfgnn reads, checks and writes the
// messages.
package tfgnnpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative tfgnn.proto
