// Command graphmill-beam runs graphmill's operations on a cluster, by Apache Beam.
//
// It is a module of its own, so that those who do not need a cluster do not get Beam. It has the options, draws and files of
// command graphmill.
package main
