// Package tfgnnpb is the Go code of TF-GNN's messages: GraphSchema, SamplingSpec
// and what they are made of, with TF-GNN's field numbers. The code is generated
// from tfgnn.proto; package tfgnn reads, checks and writes them.
package tfgnnpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative tfgnn.proto
