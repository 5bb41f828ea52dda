package sampling

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/secret"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// hostPatience is the time for which a host that went away is asked again. Tests shorten it.
var hostPatience = 5 * time.Minute

// checkHosted refuses what batches of hosts cannot be.
func (o *request) checkHosted(p *planned, f *feed.Features) error {
	switch {
	case o.Executor == option.ExecutorStream:
		return operation.Usagef("found `Hosts` and `Executor` stream, expected one of them: with hosts, this process reads no edges")
	case o.Memory > 0:
		return operation.Usagef("found `Hosts` and `Memory`, expected one of them: with hosts, this process holds the batches that are under way and nothing else; leave `Memory` out, and bound `Threads`")
	case o.sets():
		return operation.Usagef("found `Hosts` with `Sampler` %s, expected a sampler of neighbours: sets of nodes are made from the whole graph", o.Sampler)
	case len(p.plan.Messages) > 0:
		return operation.Usagef("found `Hosts` with `Messages`, expected all edges: hosts restrict none; import the messages alone")
	case len(f.Texts) > 0:
		return operation.Usagef("found `Hosts` with `Texts`, expected no columns of texts: hosts send numbers")
	}
	for _, address := range o.Hosts {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return operation.Usagef("`Hosts`: found %q, expected HOST:PORT of a process of graphmill host, such as 10.0.0.7:8816", address)
		}
	}
	return nil
}

// hostsTLS is how the hosts are verified; nil where all are on this machine and no certificate is given.
func (o *request) hostsTLS() (*tls.Config, error) {
	here := true
	for _, address := range o.Hosts {
		name, _, _ := net.SplitHostPort(address) // checkHosted has split it
		here = here && (name == "localhost" || net.ParseIP(name).IsLoopback())
	}
	if o.HostsCA == "" {
		if here {
			return nil, nil
		}
		return &tls.Config{MinVersion: tls.VersionTLS13}, nil
	}
	pem, err := vfs.ReadFile(vfs.OS, o.HostsCA, secret.MostFile)
	if err != nil {
		return nil, fmt.Errorf("`HostsCA`: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("`HostsCA` %s: found no certificate, expected some in PEM; give the file of the authority that signed the hosts' certificates", o.HostsCA)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool}, nil
}

// openHosted makes the source of batches whose edges and rows hosts give.
func (l *Loader) openHosted(ctx context.Context, s *store.Store, p *planned, f *feed.Features, options sample.Options) (err error) {
	o := &l.o
	if err := o.checkHosted(p, f); err != nil {
		return err
	}
	if err := p.plan.CanGive(s.Graph); err != nil {
		return fmt.Errorf("`Hosts`: %w", err)
	}
	ho := host.Options{Addresses: o.Hosts, Patience: hostPatience, Say: options.Warn}
	if ho.TLS, err = o.hostsTLS(); err != nil {
		return err
	}
	token := ""
	if o.HostsToken != "" {
		if token, err = secret.ReadToken(o.HostsToken); err != nil {
			return fmt.Errorf("`HostsToken`: %w", err)
		}
	}
	sum, err := store.Sum(vfs.OS, s.Dir)
	if err != nil {
		return err
	}
	options.Given = true
	m, err := sample.New(s.Graph, p.plan, options)
	if err != nil {
		return err
	}
	client, err := feed.DialHosts(context.WithoutCancel(ctx), m, f, sum, token, ho)
	if err != nil {
		m.Close()
		return err
	}
	l.executor.sampler = m
	if l.source, err = feed.NewHostedSource(client, m, p.job, *f, o.Ops); err != nil {
		client.Close()
		m.Close()
		return err
	}
	l.note("%d hosts draw the edges and read the rows", client.Hosts())
	return nil
}
