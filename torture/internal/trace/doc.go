// Package trace fails or kills a program at a chosen system call, from outside, with ptrace. Threads and child processes of the program
// are followed. Only calls on files below one folder count.
//
//	hit, r := trace.Run(t, call, trace.Options{Below: dir, At: 12, Errno: unix.EIO})
//
// The process that traces is the test's own program, started again: an init function of this package takes over there. A tracer in the
// test process itself would wait for the children of other tests.
//
// The package runs on Linux on amd64, and needs no root.
package trace
