// Package metrics answers what operators and schedulers ask of a process that runs for long, over HTTP: whether it lives, whether it is ready, and what it has done, in Prometheus's text
// format. The servers of questions, feeds, hosts and worker services count with it.
//
// # Names
//
// A metric begins with graphmill_, and ends with its unit. Counters end with _total. What the process itself takes (memory, processor time, reads from disks, faults of pages) has the usual names of Go programs,
// process_ and go_.
//
// # Trust
//
// The pages need no token, and say nothing of the graph but the name of its version. An address that other machines reach is allowed.
package metrics
