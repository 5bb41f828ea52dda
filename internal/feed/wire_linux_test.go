//go:build !portable

package feed

import "net"

// dialed is a connection at the address of a server.
func dialed(addr string) (*net.UnixConn, error) {
	return net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: "@" + addr, Net: "unixpacket"})
}

// framed is the bytes that send a packet.
func framed(p []byte) []byte { return p }

// packetOf reads the next packet and its control messages.
func packetOf(c *net.UnixConn, buf, control []byte) (p, messages []byte, err error) {
	n, m, _, _, err := c.ReadMsgUnix(buf, control)
	if err != nil {
		return nil, nil, err
	}
	return buf[:n], control[:m], nil
}
