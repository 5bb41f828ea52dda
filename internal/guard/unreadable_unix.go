//go:build unix

package guard

import "syscall"

// unreadable are the errors of a call that cannot read the memory it is given.
var unreadable = []error{syscall.EFAULT}
