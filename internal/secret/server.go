package secret

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrExposed is the kind of errors about an address that other machines reach, without encryption and a token.
var ErrExposed = errors.New("address open to other machines")

// Files are what a server is protected by. "" are none.
type Files struct {
	Certificate, Key string // PEM; both or neither
	Token            string
}

// Guard is the content of Files.
type Guard struct {
	TLS   *tls.Config // nil without a certificate
	Token string      // "" without a token
}

// Open reads the files. warn gets a line for each that other users may read, and log what is wrong with the certificate while the server runs.
func (f *Files) Open(warn func(text string), log func(client string, err error)) (g Guard, err error) {
	if f.Certificate != "" {
		c, err := OpenCertificate(f.Certificate, f.Key, log)
		if err != nil {
			return g, err
		}
		g.TLS = &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS13}
	}
	if f.Token != "" {
		if g.Token, err = ReadToken(f.Token); err != nil {
			return g, err
		}
	}
	for _, file := range []string{f.Key, f.Token} {
		if info, err := vfs.OS.Stat(file); file != "" && err == nil && info.Mode().Perm()&0o077 != 0 {
			warn(fmt.Sprintf("%s: found mode %04o, with which other users of this machine may read it, expected 0600", file, info.Mode().Perm()))
		}
	}
	return g, nil
}

// Listen listens on HOST:PORT, with port 0 on a free one. An address that other machines reach needs encryption and a token, or it is an ErrExposed.
func Listen(ctx context.Context, address string, guarded bool) (net.Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("found address %q, expected HOST:PORT such as 127.0.0.1:8815: %w", address, err)
	}
	if !a.IP.IsLoopback() && !guarded {
		return nil, fmt.Errorf("found address %q, which other machines reach, without TLS and a token: %w", address, ErrExposed)
	}
	// Listen on the address that was checked, because the name may resolve to another one by now.
	return (&net.ListenConfig{}).Listen(ctx, "tcp", a.String())
}
