// Package main is the command graphmill-flight: sampled batches for trainers on other
// machines, over Arrow Flight.
//
// It holds flags, the checks of what may be listened on (TLS and a token beyond
// loopback), and the calls of the libraries; what a batch and a message are is
// package flight's. stdout has one JSON line, when it can be connected to; the exit
// status is graphmill's.
//
// The package imports flight, store, internal/*, cobra and pflag.
package main
