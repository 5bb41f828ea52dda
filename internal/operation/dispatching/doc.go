// Package dispatching writes the parts of a divided graph in DGL's format, on this machine or on the workers of a cluster, and sends them
// to the machines of a training.
package dispatching
