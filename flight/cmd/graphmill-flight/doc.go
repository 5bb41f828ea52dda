// Package main is the command graphmill-flight: it serves sampled batches to trainers on other machines over Arrow Flight.
//
// The command parses its flags, checks the address (TLS and a token are required unless it is a loopback address), and
// calls the libraries. Package flight defines the batches and messages. When clients can connect, the command prints one
// line of JSON to stdout. Its exit statuses are the same as graphmill's.
package main
