package transport

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
)

// server is a machine that parts are sent to.
type server struct{ *sftptest.Server }

// serve starts a server and returns the Options that reach it.
func serve(t *testing.T) (*server, Options) {
	t.Helper()
	s := &server{sftptest.Serve(t)}
	return s, Options{User: "mill", Port: s.Port, Identities: []string{s.Identity}, KnownHosts: []string{s.KnownHosts},
		RemoteDir: "/parts", pause: 1, block: 4096}
}

func writeFile(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
