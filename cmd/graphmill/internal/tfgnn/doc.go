// Package tfgnn has the command tfgnn of graphmill: tools for the files of TensorFlow GNN. It imports package graphmill,
// internal/cli, and the formats of TF-GNN.
package tfgnn
