//go:build unix

package serving

import (
	"net"

	"golang.org/x/sys/unix"
)

// listenPrivate listens on a Unix socket with a new path that only processes of this user can open.
func listenPrivate(path string) (*net.UnixListener, error) {
	// The mode holds from the first moment on.
	mask := unix.Umask(0o177)
	defer unix.Umask(mask)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
