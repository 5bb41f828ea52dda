// Package tfgnn has the command tfgnn of graphmill: tools for the files of TensorFlow GNN, and the codec that
// graphmill.tfgnn of the Python client runs.
package tfgnn
