package serving

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowerPriority makes the goroutine that calls it give way to all others, until it ends: it has a thread of its own, of the lowest priority.
func lowerPriority() {
	runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
}
