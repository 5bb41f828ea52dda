// Package sftptest has a machine that parts are sent to, for tests: an SSH server with sftp over a folder.
package sftptest

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

// Server is an SSH server with sftp, on a port of its own, that can be told to misbehave.
type Server struct {
	Root       string        // the folder that clients see as /
	Key        ssh.Signer    // of the host
	User       ssh.PublicKey // of those who may log in
	Port       int
	Identity   string // file with the private key of User
	KnownHosts string // file with the line of the host

	Full    atomic.Int64 // bytes after which its disk is full; 0: never
	Free    atomic.Int64 // the free space that it reports; 0: it reports none
	Flip    atomic.Bool  // it returns other bytes than it received
	Silent  atomic.Bool  // it accepts connections and never answers
	Stuck   atomic.Bool  // its sftp never answers
	Conns   atomic.Int64 // connections so far
	Written atomic.Int64 // bytes that it was given so far

	limit     atomic.Pointer[func(n int64) int64]
	wrote     atomic.Pointer[func(total int64)]
	listener  net.Listener
	wait      sync.WaitGroup
	mu        sync.Mutex
	open      map[net.Conn]bool
	leaveOpen chan struct{}
}

// NewKey makes a key, and returns it also as the text of its file.
func NewKey(tb testing.TB) (ssh.Signer, []byte) {
	tb.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		tb.Fatal(err)
	}
	return s, pem.EncodeToMemory(block)
}

// Serve starts a server on 127.0.0.1, which lives as long as the test.
func Serve(tb testing.TB) *Server {
	tb.Helper()
	return ServeAt(tb, "127.0.0.1:0")
}

// ServeAt starts a server at an address.
func ServeAt(tb testing.TB, addr string) *Server {
	tb.Helper()
	keys := tb.TempDir()
	s := &Server{Root: tb.TempDir(), Identity: filepath.Join(keys, "id"), KnownHosts: filepath.Join(keys, "known_hosts"),
		open: map[net.Conn]bool{}, leaveOpen: make(chan struct{})}
	s.Key, _ = NewKey(tb)
	user, private := NewKey(tb)
	s.User = user.PublicKey()
	var err error
	if s.listener, err = net.Listen("tcp", addr); err != nil {
		tb.Fatal(err)
	}
	s.Port = s.listener.Addr().(*net.TCPAddr).Port
	err = errors.Join(os.WriteFile(s.Identity, private, 0o600), os.WriteFile(s.KnownHosts, []byte(s.KnownLine(s.Key.PublicKey())), 0o600))
	if err != nil {
		tb.Fatal(err)
	}
	s.wait.Go(s.accept)
	tb.Cleanup(s.stop)
	return s
}

// KnownLine is the line of a file of known hosts that gives the server a key.
func (s *Server) KnownLine(key ssh.PublicKey) string {
	return knownhosts.Line([]string{s.listener.Addr().String()}, key) + "\n"
}

// Deaf ends the listening of the server: nobody reaches it.
func (s *Server) Deaf() { s.listener.Close() }

// Cut sets the number of bytes that the n-th connection, from 1, takes before it is cut; 0 is no limit. nil: no connection is cut.
func (s *Server) Cut(limit func(n int64) int64) {
	if limit == nil {
		s.limit.Store(nil)
		return
	}
	s.limit.Store(&limit)
}

// Wrote sets a function that is called after each write with the number of bytes that the server was given so far.
func (s *Server) Wrote(f func(total int64)) { s.wrote.Store(&f) }

func (s *Server) stop() {
	s.listener.Close()
	close(s.leaveOpen)
	s.mu.Lock()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		n := s.Conns.Add(1)
		s.mu.Lock()
		s.open[c] = true
		s.mu.Unlock()
		s.wait.Go(func() {
			defer c.Close()
			if s.Silent.Load() {
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

func (s *Server) session(c net.Conn) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(s.User.Marshal()) {
			return nil, errors.New("who is that?")
		}
		return nil, nil
	}}
	config.AddHostKey(s.Key)
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
				if s.Stuck.Load() {
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

func (s *Server) path(name string) string { return filepath.Join(s.Root, filepath.FromSlash(name)) }

// Fileread implements sftp.FileReader.
func (s *Server) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	f, err := os.Open(s.path(r.Filepath))
	if err != nil {
		return nil, err
	}
	return &remoteFile{f, s}, nil
}

// Filewrite implements sftp.FileWriter.
func (s *Server) Filewrite(*sftp.Request) (io.WriterAt, error) {
	return nil, sftp.ErrSSHFxOpUnsupported
}

// OpenFile implements sftp.OpenFileWriter.
func (s *Server) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
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
	s *Server
}

func (f *remoteFile) WriteAt(b []byte, off int64) (int, error) {
	total := f.s.Written.Add(int64(len(b)))
	if wrote := f.s.wrote.Load(); wrote != nil {
		defer (*wrote)(total)
	}
	if f.s.Full.Load() > 0 && total > f.s.Full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, off)
}

func (f *remoteFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if f.s.Flip.Load() && n > 0 {
		b[n/2] ^= 4
	}
	return n, err
}

// Filecmd implements sftp.FileCmder.
func (s *Server) Filecmd(r *sftp.Request) error {
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
func (s *Server) PosixRename(r *sftp.Request) error {
	return os.Rename(s.path(r.Filepath), s.path(r.Target))
}

// StatVFS implements sftp.StatVFSFileCmder.
func (s *Server) StatVFS(*sftp.Request) (*sftp.StatVFS, error) {
	free := s.Free.Load()
	if free == 0 {
		return nil, sftp.ErrSSHFxOpUnsupported
	}
	return &sftp.StatVFS{Bsize: 1, Frsize: 1, Bavail: uint64(free), Bfree: uint64(free)}, nil
}

// Filelist implements sftp.FileLister.
func (s *Server) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
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
