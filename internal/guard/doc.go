// Package guard turns a fault under a mapped file into an error.
//
// Reading a page of a mapped file fails where the disk returns an error, and where another program has cut the file. The
// kernel then sends SIGBUS, which ends a Go process. Inside Do the fault is a panic of the goroutine, and Do returns it as
// an *Error with the path of the file and the byte.
//
// The rules for callers:
//   - Every goroutine that reads maps calls Do itself: a goroutine does not inherit the guard of its parent.
//   - Do belongs around the unit of work, inside the code that reports how the work ended. A goroutine that sends a message
//     or unlocks a mutex after a Do always does so.
//   - Inside Do, a lock is released by defer, and a string that lies in a map is never the key of a Go map: a fault during
//     its comparison breaks the Go map for good.
//   - Buffers that were being written at a fault hold anything.
//
// File systems register their maps. A fault at an address of no map is a defect of the program, and goes on as a panic.
package guard
