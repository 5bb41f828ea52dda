package serving

import (
	"errors"
	"fmt"
	"net"
)

// listenPrivate is an error: Python has no Unix sockets here, so no client could ask.
func listenPrivate(path string) (*net.UnixListener, error) {
	return nil, fmt.Errorf("%s: %w on Windows, where Python has no Unix sockets; run the server and its clients in WSL 2", path, errors.ErrUnsupported)
}
