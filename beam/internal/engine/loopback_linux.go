package engine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// confined says that loopbackOnly works.
const confined = true

// loopbackOnly binds the listener of this process at a port to the loopback interface. Prism listens on all interfaces, offers
// no choice, and runs the commands that a job names.
func loopbackOnly(port int) error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	bound := false
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			return err
		}
		if listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || listens == 0 {
			continue // a file, a connection, or closed by now
		}
		if name, err := syscall.Getsockname(fd); err != nil || portOf(name) != port {
			continue
		}
		if err := syscall.BindToDevice(fd, "lo"); err != nil {
			return fmt.Errorf("cannot keep Prism on the loopback interface: %w; run it as a program of its own and give `Endpoint`", err)
		}
		bound = true
	}
	if !bound {
		return errors.New("cannot keep Prism on the loopback interface: found no listener of it; run it as a program of its own and give `Endpoint`")
	}
	return nil
}

func portOf(name syscall.Sockaddr) int {
	switch name := name.(type) {
	case *syscall.SockaddrInet4:
		return name.Port
	case *syscall.SockaddrInet6:
		return name.Port
	}
	return 0
}
