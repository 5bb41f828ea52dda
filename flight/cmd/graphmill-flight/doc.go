// Package main is the command graphmill-flight: it serves sampled batches to trainers on other machines,
// over Arrow Flight.
//
// It parses flags, checks the address (TLS and a token are required beyond loopback) and calls the
// libraries; package flight defines batches and messages. When a client can connect, it prints one JSON
// line to stdout. The exit statuses equal those of graphmill.
//
// The package imports flight, internal/store, internal helper packages, cobra, pflag and the standard
// library.
package main
