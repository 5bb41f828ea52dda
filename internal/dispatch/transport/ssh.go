package transport

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Errors about a machine that callers can tell apart.
var (
	// errHostKey says that the key of a machine is unknown, or differs from the known one.
	errHostKey = errors.New("host key not accepted")
	// errLogin says that a machine accepts none of the keys.
	errLogin = errors.New("cannot log in")
	// errSilent says that a machine did not answer in time.
	errSilent = errors.New("no answer")
)

// login is shared by all connections of a Send.
type login struct {
	user    string
	port    int
	known   ssh.HostKeyCallback
	files   []string // names of the files of known hosts, for messages
	signers []ssh.Signer
	agent   string
	timeout time.Duration
}

// newLogin reads the keys. Options that the user did not set default to the files of ~/.ssh that exist.
func newLogin(fsys vfs.FS, o *Options) (*login, error) {
	l := &login{user: o.User, port: o.Port, agent: o.Agent, timeout: o.Timeout}
	if l.user == "" {
		u, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("the name of the user is not known: %w; give `SSHUser`", err)
		}
		l.user = u.Username
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then no file of the user is looked for
	}
	there := func(names ...string) (found []string, err error) {
		for _, name := range names {
			if !filepath.IsAbs(name) {
				continue
			}
			there, err := vfs.Exists(fsys, name)
			if err != nil {
				return nil, err
			}
			if there {
				found = append(found, name)
			}
		}
		return found, nil
	}
	mine := func(name string) string { return filepath.Join(home, ".ssh", name) }
	if l.files = o.KnownHosts; l.files == nil {
		if l.files, err = there(mine("known_hosts"), "/etc/ssh/ssh_known_hosts"); err != nil {
			return nil, fmt.Errorf("known hosts: %w", err)
		}
	}
	if l.known, err = knownhosts.New(l.files...); err != nil {
		return nil, fmt.Errorf("known hosts: %w", err)
	}
	if l.files == nil {
		l.files = []string{mine("known_hosts")}
	}
	identities := o.Identities
	if identities == nil {
		if identities, err = there(mine("id_ed25519"), mine("id_ecdsa"), mine("id_rsa")); err != nil {
			return nil, err
		}
	}
	for _, name := range identities {
		s, err := readIdentity(fsys, name)
		if errors.Is(err, errEncrypted) && o.Identities == nil {
			continue // the agent may hold this key
		}
		if err != nil {
			return nil, err
		}
		l.signers = append(l.signers, s)
	}
	if len(l.signers) == 0 && l.agent == "" {
		return nil, fmt.Errorf("%w: found no key to log in with, expected one; give `Identity` FILE, or start ssh-agent and run ssh-add", errLogin)
	}
	return l, nil
}

var errEncrypted = errors.New("is protected by a passphrase")

// maxIdentity bounds a key file.
const maxIdentity = 1 << 20

func readIdentity(fsys vfs.FS, name string) (ssh.Signer, error) {
	b, err := vfs.ReadFile(fsys, name, maxIdentity)
	if err != nil {
		return nil, err
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("%s: %w; give it to the agent (ssh-add %s) and leave `Identity` out", name, errEncrypted, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: found no private key: %w", name, err)
	}
	return s, nil
}

// checkHost checks the key of a machine. Its errors say which command to run.
func (l *login) checkHost(host, addr string, remote net.Addr, key ssh.PublicKey) error {
	err := l.known(addr, remote, key)
	var unknown *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	at := knownhosts.Normalize(addr)
	print := key.Type() + " " + ssh.FingerprintSHA256(key)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown) && len(unknown.Want) > 0:
		want := unknown.Want[0]
		return fmt.Errorf("%w: found %s, expected %s %s, the key in %s:%d; somebody may intercept the connection; if the machine was set up anew, run 'ssh-keygen -R %s -f %s' and log in once by ssh",
			errHostKey, print, want.Key.Type(), ssh.FingerprintSHA256(want.Key), want.Filename, want.Line, at, want.Filename)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: found %s, expected a key that is in %s; compare it with the machine's key and run 'ssh -o UserKnownHostsFile=%s -p %d %s@%s' once to add it",
			errHostKey, print, l.files[0], l.files[0], l.port, l.user, host)
	case errors.As(err, &revoked):
		return fmt.Errorf("%w: found %s, which %s:%d revokes", errHostKey, print, revoked.Revoked.Filename, revoked.Revoked.Line)
	}
	return fmt.Errorf("%w: %w", errHostKey, err)
}

// algorithms lists the key algorithms to offer. A machine has several keys and shows one of the algorithms
// that the client offers, so only the algorithms of its known keys are offered. For an unknown machine these
// are the algorithms that ssh offers, in its order.
func (l *login) algorithms(addr string) []string {
	never, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil
	}
	var known *knownhosts.KeyError
	if !errors.As(l.known(addr, &net.TCPAddr{}, never), &known) || len(known.Want) == 0 {
		return []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	var algorithms []string
	for _, k := range known.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			algorithms = append(algorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			algorithms = append(algorithms, k.Key.Type())
		}
	}
	return algorithms
}

// conn is a connection to one machine. It has the methods of sftp.Client.
type conn struct {
	*sftp.Client
	ssh    *ssh.Client
	watch  *watch
	cancel func() bool
}

// connect logs in and starts sftp. The connection closes when ctx ends.
func (l *login) connect(ctx context.Context, host string) (_ *conn, err error) {
	addr := net.JoinHostPort(host, strconv.Itoa(l.port))
	dialer := net.Dialer{Timeout: l.timeout}
	raw, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			err = fmt.Errorf("%w within %v: %w", errSilent, l.timeout, err)
		}
		return nil, fmt.Errorf("%w; is it up, and does SSH listen on port %d?", err, l.port)
	}
	c := &conn{watch: watchOver(raw, l.timeout)}
	c.cancel = context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer func() {
		if err != nil {
			err = c.why(ctx, err)
			c.Close()
		}
	}()
	var refused error // the error about the host key, without the text that ssh puts around it
	config := &ssh.ClientConfig{User: l.user, HostKeyAlgorithms: l.algorithms(addr), HostKeyCallback: func(addr string, remote net.Addr, key ssh.PublicKey) error {
		refused = l.checkHost(host, addr, remote, key)
		return refused
	}}
	signers := l.signers
	if l.agent != "" {
		socket, err := dialer.DialContext(ctx, "unix", l.agent)
		if err != nil && len(signers) == 0 {
			return nil, fmt.Errorf("%w: the agent does not answer: %w; give `Identity` FILE, or start ssh-agent and run ssh-add", errLogin, err)
		}
		if err == nil {
			defer func() { _ = socket.Close() }()
			held, err := agent.NewClient(socket).Signers()
			if err != nil {
				return nil, fmt.Errorf("%w: the agent: %w", errLogin, err)
			}
			signers = append(signers[:len(signers):len(signers)], held...)
		}
	}
	config.Auth = []ssh.AuthMethod{ssh.PublicKeys(signers...)}
	transport, channels, requests, err := ssh.NewClientConn(c.watch, addr, config)
	switch {
	case refused != nil:
		return nil, refused
	case err != nil && c.watch.fired.Load():
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w as %s: %w; see whether 'ssh -p %d %s@%s' can", errLogin, l.user, err, l.port, l.user, host)
	}
	c.ssh = ssh.NewClient(transport, channels, requests)
	// Several writes may be in flight. If the connection is cut, the comparison of the file finds the holes.
	c.Client, err = sftp.NewClient(c.ssh, sftp.UseConcurrentWrites(true))
	if err != nil {
		return nil, fmt.Errorf("sftp does not start: %w; the machine's sshd_config needs the line 'Subsystem sftp internal-sftp'", err)
	}
	return c, nil
}

// Close ends the connection and its goroutines. It ignores errors, because all data that count were read back.
func (c *conn) Close() {
	c.cancel()
	if c.Client != nil {
		_ = c.Client.Close()
	}
	if c.ssh != nil {
		_ = c.ssh.Close()
		_ = c.ssh.Wait()
	}
	_ = c.watch.Close()
}

// why replaces an error of a connection by its cause: a cancelled context, or silence.
func (c *conn) why(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.watch.fired.Load():
		return fmt.Errorf("%w within %v", errSilent, c.watch.timeout)
	}
	return err
}

// lost reports whether an error is due to the connection and not an answer of the machine.
func (c *conn) lost(err error) bool {
	var status *sftp.StatusError
	if errors.As(err, &status) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	ended := errors.Is(err, sftp.ErrSSHFxConnectionLost) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	return ended || c.watch.ended.Load()
}

// watch is a connection that closes if no data arrive for timeout.
type watch struct {
	net.Conn
	timeout time.Duration
	timer   *time.Timer
	fired   atomic.Bool // closed because of silence
	ended   atomic.Bool // a call failed: the connection is dead
}

func watchOver(c net.Conn, timeout time.Duration) *watch {
	w := &watch{Conn: c, timeout: timeout}
	w.timer = time.AfterFunc(timeout, func() {
		w.fired.Store(true)
		_ = w.Conn.Close()
	})
	return w
}

// here restarts the timer: the machine answered, or it is not its turn to send.
func (w *watch) here() {
	if !w.ended.Load() {
		w.timer.Reset(w.timeout)
	}
}

// Read implements net.Conn.
func (w *watch) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil {
		w.ended.Store(true)
		return n, err
	}
	w.here()
	return n, nil
}

// Write implements net.Conn.
func (w *watch) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err != nil {
		w.ended.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (w *watch) Close() error {
	w.ended.Store(true)
	w.timer.Stop()
	return w.Conn.Close()
}
