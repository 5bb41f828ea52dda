package feed

import (
	"errors"
	"fmt"
	"net"
)

// errShared is the error of a feed through shared memory.
var errShared = fmt.Errorf("no shared memory that a loader can map: %w; start the feed with the lifeline 0, whose batches go over a socket", errors.ErrUnsupported)

func listen(string) (net.Listener, string, func(), error) { return nil, "", nil, errShared }

func enlarge(*net.UnixConn) {}

func readPacket(*net.UnixConn, []byte, int) ([]byte, error) { return nil, errShared }

func writePacket(*net.UnixConn, []byte, int) error { return errShared }

// credentials are not told here.
func credentials(int) (pid, uid int, err error) { return 0, 0, errors.ErrUnsupported }
