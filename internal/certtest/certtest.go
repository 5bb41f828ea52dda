// Package certtest issues certificates for tests.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Issue writes a certificate for 127.0.0.1, and its key, as NAME.cert and NAME.key. They appear whole.
func Issue(tb testing.TB, name string, from, to time.Time) *x509.Certificate {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range []struct {
		path, kind string
		bytes      []byte
	}{{name + ".key", "PRIVATE KEY", secret}, {name + ".cert", "CERTIFICATE", der}} {
		if err := os.WriteFile(f.path+".new", pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.bytes}), 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Rename(f.path+".new", f.path); err != nil {
			tb.Fatal(err)
		}
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		tb.Fatal(err)
	}
	return c
}
