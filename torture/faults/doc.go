// Package faults proves that no failure of the file system is swallowed. It has no code but tests.
//
// TestSeam fails each call that a run makes on the file system of package vfs, and each page of its maps, in a graphmill that is built
// with the tag faults. TestSystemCalls fails system calls of the product's own binary from outside, with ptrace, so that calls that bypass
// vfs count too. TestDisk reads inputs from a FUSE disk that returns errors, and TestCut cuts a file while a stopped run has it mapped.
//
// The verdict on a run that met a fault is the same for all:
//
//   - It ends with status 1 (verify: 1 or 3), without the trace of a panic, and soon.
//   - Its message has the name of the file.
//   - No output is visible that is not whole: graphmill verify passes, and its bytes equal a run without fault.
//   - Nothing is left beside the outputs, unless the run can be resumed or the fault was one of cleaning up.
//   - The same command again gives the bytes of a run without fault.
//   - Status 0 is right only where the list of harmless faults (harmless.go) has a reason, and the output is whole.
package faults
