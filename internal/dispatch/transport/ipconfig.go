package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Machine is a line of an ip_config file.
type Machine struct {
	// Host is an address or a name.
	Host string
	// Port is the port of DGL's server on the machine, 0 if the line has none (DGL's default is 30050). It is
	// not the port of SSH.
	Port int
	// Line is the line of the machine in its file, from 1.
	Line int
}

// maxIPConfig bounds the size of an ip_config file.
const maxIPConfig = 1 << 20

// ReadIPConfig reads the machines of a cluster, one per line: ADDRESS [PORT]. It skips blank lines and lines
// that begin with #, which DGL's own programs reject.
func ReadIPConfig(fsys vfs.FS, name string) ([]Machine, error) {
	b, err := vfs.ReadFile(fsys, name, maxIPConfig)
	if err != nil {
		return nil, err
	}
	return parseIPConfig(name, b)
}

func parseIPConfig(name string, b []byte) ([]Machine, error) {
	var machines []Machine
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxIPConfig+1)
	for line := 1; lines.Scan(); line++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		bad := func(found, expected string) error {
			return fmt.Errorf("%s:%d: found %s, expected %s; write ADDRESS or ADDRESS PORT on each line", name, line, found, expected)
		}
		if len(fields) > 2 {
			return nil, bad(fmt.Sprintf("%d words", len(fields)), "an address and at most a port, as in '10.0.0.1 30050'")
		}
		m := Machine{Host: fields[0], Line: line}
		if !isHost(m.Host) {
			return nil, bad(fmt.Sprintf("%q", m.Host), "an address or the name of a machine; the user and the port of SSH are given by `SSHUser` and `SSHPort`")
		}
		if len(fields) == 2 {
			port, err := strconv.ParseUint(fields[1], 10, 16)
			if err != nil || port == 0 {
				return nil, bad(fmt.Sprintf("port %q", fields[1]), "a number from 1 to 65535")
			}
			m.Port = int(port)
		}
		machines = append(machines, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(machines) == 0 {
		return nil, fmt.Errorf("%s: found no machine, expected one address per line; write the address of each machine, such as 10.0.0.1, on a line of its own", name)
	}
	return machines, nil
}

// isHost reports whether s is an address or a valid host name.
func isHost(s string) bool {
	name := s
	if a, err := netip.ParseAddr(s); err == nil {
		if name = a.Zone(); name == "" {
			return true
		}
	}
	letter := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	return len(name) <= 253 && name[0] != '-' && name[0] != '.' && strings.IndexFunc(name, func(r rune) bool { return !letter(r) }) < 0
}
