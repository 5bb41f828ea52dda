package transport

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// server is an SSH server with sftp over a folder, on a port of its own, that can be told to misbehave.
type server struct {
	root string
	key  ssh.Signer // of the host
	user ssh.PublicKey
	port int

	// limit returns the number of bytes that the n-th connection, from 1, takes before it is cut; 0 is no
	// limit.
	limit     atomic.Pointer[func(n int64) int64]
	full      atomic.Int64 // bytes after which its disk is full; 0: never
	free      atomic.Int64 // the free space that it reports; 0: it reports none
	flip      atomic.Bool  // it returns other bytes than it received
	silent    atomic.Bool  // it accepts connections and never answers
	stuck     atomic.Bool  // its sftp never answers
	conns     atomic.Int64
	written   atomic.Int64
	listener  net.Listener
	wait      sync.WaitGroup
	mu        sync.Mutex
	open      map[net.Conn]bool
	leaveOpen chan struct{}
}

func newKey(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return s, pem.EncodeToMemory(block)
}

// serve starts a server and returns the Options that reach it.
func serve(t *testing.T) (*server, Options) {
	t.Helper()
	return serveAt(t, "127.0.0.1:0")
}

func serveAt(t *testing.T, addr string) (*server, Options) {
	t.Helper()
	s := &server{root: t.TempDir(), open: map[net.Conn]bool{}, leaveOpen: make(chan struct{})}
	s.key, _ = newKey(t)
	user, private := newKey(t)
	s.user = user.PublicKey()
	var err error
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	s.port = s.listener.Addr().(*net.TCPAddr).Port
	s.wait.Go(s.accept)
	t.Cleanup(s.stop)
	keys := t.TempDir()
	o := Options{
		User: "mill", Port: s.port, Identities: []string{filepath.Join(keys, "id")}, KnownHosts: []string{filepath.Join(keys, "known_hosts")},
		RemoteDir: "/parts", pause: 1, block: 4096,
	}
	writeFile(t, o.Identities[0], private)
	writeFile(t, o.KnownHosts[0], []byte(s.knownLine(s.key.PublicKey())))
	return s, o
}

func (s *server) knownLine(key ssh.PublicKey) string {
	return knownhosts.Line([]string{s.listener.Addr().String()}, key) + "\n"
}

func (s *server) stop() {
	s.listener.Close()
	close(s.leaveOpen)
	s.mu.Lock()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		n := s.conns.Add(1)
		s.mu.Lock()
		s.open[c] = true
		s.mu.Unlock()
		s.wait.Go(func() {
			defer c.Close()
			if s.silent.Load() {
				<-s.leaveOpen
				return
			}
			if limit := s.limit.Load(); limit != nil && (*limit)(n) > 0 {
				c = &cutConn{c, (*limit)(n)}
			}
			s.session(c)
		})
	}
}

// cut sets the limit of each connection.
func (s *server) cut(limit func(n int64) int64) { s.limit.Store(&limit) }

// cutConn is a connection that ends in the middle.
type cutConn struct {
	net.Conn
	left int64
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (s *server) session(c net.Conn) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(s.user.Marshal()) {
			return nil, errors.New("who is that?")
		}
		return nil, nil
	}}
	config.AddHostKey(s.key)
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	s.wait.Go(func() { ssh.DiscardRequests(requests) })
	for n := range channels {
		ch, requests, err := n.Accept()
		if err != nil {
			return
		}
		s.wait.Go(func() {
			for r := range requests {
				ok := r.Type == "subsystem" && string(r.Payload[4:]) == "sftp"
				_ = r.Reply(ok, nil)
				if !ok {
					continue
				}
				if s.stuck.Load() {
					continue
				}
				s.wait.Go(func() {
					_ = sftp.NewRequestServer(ch, sftp.Handlers{FileGet: s, FilePut: s, FileCmd: s, FileList: s}).Serve()
					ch.Close()
				})
			}
		})
	}
}

func (s *server) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// Fileread implements sftp.FileReader.
func (s *server) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	f, err := os.Open(s.path(r.Filepath))
	if err != nil {
		return nil, err
	}
	return &remoteFile{f, s}, nil
}

// Filewrite implements sftp.FileWriter.
func (s *server) Filewrite(*sftp.Request) (io.WriterAt, error) {
	return nil, sftp.ErrSSHFxOpUnsupported
}

// OpenFile implements sftp.OpenFileWriter.
func (s *server) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
	flags := os.O_RDWR
	if r.Pflags().Creat {
		flags |= os.O_CREATE
	}
	if r.Pflags().Trunc {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(s.path(r.Filepath), flags, 0o600)
	if err != nil {
		return nil, err
	}
	return &remoteFile{f, s}, nil
}

type remoteFile struct {
	*os.File
	s *server
}

func (f *remoteFile) WriteAt(b []byte, off int64) (int, error) {
	if n := f.s.written.Add(int64(len(b))); f.s.full.Load() > 0 && n > f.s.full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, off)
}

func (f *remoteFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if f.s.flip.Load() && n > 0 {
		b[n/2] ^= 4
	}
	return n, err
}

// Filecmd implements sftp.FileCmder.
func (s *server) Filecmd(r *sftp.Request) error {
	switch r.Method {
	case "Setstat":
		return os.Truncate(s.path(r.Filepath), int64(r.Attributes().Size))
	case "Rename":
		return os.Rename(s.path(r.Filepath), s.path(r.Target))
	case "Mkdir":
		return os.Mkdir(s.path(r.Filepath), 0o700)
	case "Remove":
		return os.Remove(s.path(r.Filepath))
	}
	return sftp.ErrSSHFxOpUnsupported
}

// PosixRename implements sftp.PosixRenameFileCmder.
func (s *server) PosixRename(r *sftp.Request) error {
	return os.Rename(s.path(r.Filepath), s.path(r.Target))
}

// StatVFS implements sftp.StatVFSFileCmder.
func (s *server) StatVFS(*sftp.Request) (*sftp.StatVFS, error) {
	free := s.free.Load()
	if free == 0 {
		return nil, sftp.ErrSSHFxOpUnsupported
	}
	return &sftp.StatVFS{Bsize: 1, Frsize: 1, Bavail: uint64(free), Bfree: uint64(free)}, nil
}

// Filelist implements sftp.FileLister.
func (s *server) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	if r.Method != "Stat" {
		return nil, sftp.ErrSSHFxOpUnsupported
	}
	info, err := os.Stat(s.path(r.Filepath))
	if err != nil {
		return nil, err
	}
	return one{info}, nil
}

type one struct{ os.FileInfo }

func (o one) ListAt(list []os.FileInfo, off int64) (int, error) {
	if off > 0 {
		return 0, io.EOF
	}
	list[0] = o.FileInfo
	return 1, io.EOF
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
