package secret

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Certificate is the certificate of the server and its key. Files that are replaced while the server runs are read again, so
// that a certificate can be renewed without an end of the streams.
type Certificate struct {
	certFile, keyFile string
	log               func(client string, err error)

	mu     sync.Mutex
	pair   *tls.Certificate
	looked time.Time      // when the files were last looked at
	read   [2]fs.FileInfo // the files that pair was read from
}

// lookEvery is the time between two looks at the files. Tests shorten it.
var lookEvery = time.Second

// now is the time by which certificates are valid. Tests set it.
var now = time.Now

// OpenCertificate reads the certificate and its key. The certificate must be valid now. log gets what is wrong with it while the server runs, and the client that was served
// then.
func OpenCertificate(certFile, keyFile string, log func(client string, err error)) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	if err := c.valid(now()); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the files. If it fails, the certificate stays as it is.
func (c *Certificate) load() error {
	read, err := c.stat() // before the content, so that a file that is replaced meanwhile is read again
	if err != nil {
		return err
	}
	cert, err := vfs.ReadFile(vfs.OS, c.certFile, MostFile)
	if err != nil {
		return err
	}
	key, err := vfs.ReadFile(vfs.OS, c.keyFile, MostFile)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("%s, %s: %w; expected a certificate and its key, in PEM", c.certFile, c.keyFile, err)
	}
	c.pair, c.read = &pair, read
	return nil
}

func (c *Certificate) stat() (infos [2]fs.FileInfo, err error) {
	var errs [2]error
	infos[0], errs[0] = vfs.OS.Stat(c.certFile)
	infos[1], errs[1] = vfs.OS.Stat(c.keyFile)
	return infos, errors.Join(errs[:]...)
}

// valid says whether the certificate is valid at a time.
func (c *Certificate) valid(at time.Time) error {
	leaf := c.pair.Leaf
	if at.Before(leaf.NotBefore) || at.After(leaf.NotAfter) {
		return fmt.Errorf("%s: found a certificate for the time from %s to %s, expected one for now; replace the file and the key",
			c.certFile, leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// Get is tls.Config.GetCertificate. Files that cannot be used are logged, and the server goes on with what it has.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := hello.Conn.RemoteAddr().String()
	if at := time.Now(); at.Sub(c.looked) >= lookEvery {
		c.looked = at
		infos, err := c.stat()
		if err == nil && (changed(infos[0], c.read[0]) || changed(infos[1], c.read[1])) {
			err = c.load()
		}
		if err != nil {
			c.log(name, fmt.Errorf("the certificate is not renewed: %w", err))
		}
	}
	if err := c.valid(now()); err != nil {
		c.log(name, err)
	}
	return c.pair, nil
}

// changed says whether a file was replaced or written.
func changed(now, read fs.FileInfo) bool {
	return !now.ModTime().Equal(read.ModTime()) || now.Size() != read.Size() || now.Mode() != read.Mode()
}
