//go:build unix

package feed

import "golang.org/x/sys/unix"

// rights is the control message that carries a descriptor; nil for a negative one.
func rights(fd int) []byte {
	if fd < 0 {
		return nil
	}
	return unix.UnixRights(fd)
}
