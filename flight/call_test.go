package flight

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// selfSigned makes a certificate for 127.0.0.1 and a pool that trusts it.
func selfSigned(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}, pool
}

// Only calls over TLS with the token are answered, whichever method they call.
func TestTokenAndTLS(t *testing.T) {
	const token = "correct horse battery"
	config, pool := selfSigned(t)
	src := source(t)
	address, stop := start(t, src, Options{Token: token, TLS: config})
	defer stop()
	secure := dial(t, address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
	for _, c := range []struct {
		name   string
		client flight.Client
		header string // several with commas between
		want   codes.Code
	}{
		{"right", secure, "Bearer " + token, codes.OK},
		{"right and another", secure, "Bearer " + token + ",Bearer x", codes.Unauthenticated},
		{"another and right", secure, "Bearer x,Bearer " + token, codes.Unauthenticated},
		{"right twice", secure, "Bearer " + token + ",Bearer " + token, codes.Unauthenticated},
		{"none", secure, "", codes.Unauthenticated},
		{"another", secure, "Bearer " + token + "x", codes.Unauthenticated},
		{"bare", secure, token, codes.Unauthenticated},
		{"unknown authority", dial(t, address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{}))), "Bearer " + token, codes.Unavailable},
		{"no TLS", dial(t, address, grpc.WithTransportCredentials(insecure.NewCredentials())), "Bearer " + token, codes.Unavailable},
	} {
		ctx := t.Context()
		for header := range strings.SplitSeq(c.header, ",") {
			if header != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", header)
			}
		}
		d := &flight.FlightDescriptor{Type: flight.DescriptorCMD}
		_, infoErr := c.client.GetFlightInfo(ctx, d)
		_, schemaErr := c.client.GetSchema(ctx, d)
		list, listErr := c.client.ListFlights(ctx, &flight.Criteria{})
		if listErr == nil {
			_, listErr = list.Recv()
		}
		calls, getErr := c.client.DoGet(ctx, &flight.Ticket{})
		if getErr == nil {
			_, getErr = calls.Recv()
		}
		for _, err := range []error{infoErr, schemaErr, listErr, getErr} {
			if status.Code(err) != c.want {
				t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Errorf("%s: found the token in %v", c.name, err)
			}
		}
	}
}

// Listen rejects every address that other machines reach, unless there are TLS and a token.
func TestListen(t *testing.T) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	for _, c := range []struct {
		address string
		o       Options
		want    error
	}{
		{"127.0.0.1:0", Options{}, nil},
		{"127.8.9.10:0", Options{}, nil},
		{"localhost:0", Options{}, nil},
		{":0", Options{}, ErrExposed},
		{"0.0.0.0:0", Options{}, ErrExposed},
		{"[::]:0", Options{}, ErrExposed},
		{"0.0.0.0:0", Options{Token: "t"}, ErrExposed},
		{"0.0.0.0:0", Options{TLS: config}, ErrExposed},
		{"192.0.2.1:0", Options{}, ErrExposed},
		{"0.0.0.0:0", Options{Token: "t", TLS: config}, nil},
	} {
		l, err := Listen(context.Background(), c.address, c.o)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: found %v, expected %v", c.address, err, c.want)
		}
		if err == nil {
			_ = l.Close()
		}
	}
	if _, err := Listen(context.Background(), "127.0.0.1", Options{}); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
		t.Errorf("found %v, expected an error with HOST:PORT", err)
	}
}
