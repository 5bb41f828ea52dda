package workers

import (
	"net"
	"net/netip"
	"strings"
)

// Loopback reports whether an endpoint, HOST:PORT, can be reached from its own machine alone: its host is localhost or a loopback
// address.
func Loopback(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
