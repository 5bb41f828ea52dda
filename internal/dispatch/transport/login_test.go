package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestHostKeys(t *testing.T) {
	other, _ := sftptest.NewKey(t)
	for name, c := range map[string]struct {
		known func(s *server) string
		want  string // "" is accepted
	}{
		"known":   {func(s *server) string { return s.KnownLine(s.Key.PublicKey()) }, ""},
		"unknown": {func(s *server) string { return "# nobody\n" }, "run 'ssh -o UserKnownHostsFile="},
		"changed": {func(s *server) string { return "\n" + s.KnownLine(other.PublicKey()) }, "the key in "},
		"revoked": {func(s *server) string {
			return s.KnownLine(s.Key.PublicKey()) + "@revoked * " + string(ssh.MarshalAuthorizedKey(s.Key.PublicKey()))
		}, "known_hosts:2 revokes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			writeFile(t, o.KnownHosts[0], []byte(c.known(s)))
			dir := parts(t, 1, 6)
			_, err := send(t, dir, here, o)
			check := Check(t.Context(), vfs.OS, here, o)
			if c.want == "" {
				if err != nil || check != nil {
					t.Errorf("%v; %v", err, check)
				}
				return
			}
			for _, err := range []error{err, check} {
				if !errors.Is(err, errHostKey) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "SHA256:") {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
			if len(files(t, s.Root)) > 0 {
				t.Error("files were sent")
			}
		})
	}
}

// TestHostWithSeveralKeys asks for the known one of the two keys of the machine.
func TestHostWithSeveralKeys(t *testing.T) {
	_, o := serve(t)
	l, err := newLogin(vfs.OS, &o)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.algorithms(net.JoinHostPort(host, fmt.Sprint(o.Port))); !slices.Equal(got, []string{ssh.KeyAlgoED25519}) {
		t.Errorf("got %v", got)
	}
	if got := l.algorithms("10.0.0.1:22"); len(got) < 2 || got[0] != ssh.KeyAlgoED25519 {
		t.Errorf("an unknown host: %v", got)
	}
}

func TestLogin(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 7)
	_, stranger := sftptest.NewKey(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	protected, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	mine := o.Identities[0]
	name := filepath.Join(t.TempDir(), "key")
	for _, c := range []struct {
		what string
		key  []byte
		want string
	}{
		{"a stranger's key", stranger, "see whether 'ssh -p"},
		{"no key", []byte("text"), "found no private key"},
		{"a protected key", pem.EncodeToMemory(protected), "is protected by a passphrase; give it to the agent"},
	} {
		writeFile(t, name, c.key)
		o.Identities = []string{name}
		if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	o.Identities = []string{}
	if _, err := send(t, dir, here, o); !errors.Is(err, errLogin) || !strings.Contains(err.Error(), "`Identity`") {
		t.Errorf("nothing to log in with: %v", err)
	}
	o.Agent = serveAgent(t, mine)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
	o.Agent = filepath.Join(t.TempDir(), "none")
	if _, err := send(t, dir, here, o); !errors.Is(err, errLogin) || !strings.Contains(err.Error(), "agent does not answer") {
		t.Errorf("no agent: %v", err)
	}
}

// serveAgent is an agent that holds one key.
func serveAgent(t *testing.T, key string) (socket string) {
	t.Helper()
	b, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ssh.ParseRawPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = agent.ServeAgent(ring, c) // ends when the client goes
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done; os.RemoveAll(dir) })
	return socket
}
