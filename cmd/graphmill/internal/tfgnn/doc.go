// Package tfgnn has the command tfgnn of graphmill: tools for the files of TensorFlow GNN, and the codec of Examples that
// graphmill.tfgnn of the Python client runs. It imports package graphmill, internal/cli, internal/ingest/records and the
// formats of TF-GNN.
package tfgnn
