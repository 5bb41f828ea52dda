package main

import "golang.org/x/sys/unix"

// fionread asks how many bytes a pipe has.
const fionread = unix.TIOCINQ
