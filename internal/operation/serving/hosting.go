package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/secret"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Hosting says which range of a store a host has, and where loaders reach it.
type Hosting struct {
	// Part and Parts say which of how many ranges; parts count from 0.
	Part, Parts int
	// Listen is HOST:PORT.
	Listen string
	// Secrets are what protects the host. An address that other machines reach needs a certificate and a token, or the error is a secret.ErrExposed.
	Secrets secret.Files
	// Threads is the number of questions that are worked on at a time.
	Threads int
	// Connections is the most connections at a time.
	Connections int
	// HTTP is the host:port of health and metrics; "" leaves them out.
	HTTP string
	// Say is called with lines for people: each loader that was refused or cut off, and the reason. Warn gets what is wrong with the files of Secrets.
	Say, Warn func(line string)
	// Ready is called once loaders can connect. http is the address of health and metrics, "" without.
	Ready func(address, http string) error
}

// Serve answers the questions of loaders about the store in a folder until ctx ends.
func (h *Hosting) Serve(ctx context.Context, dir string) (err error) {
	log := feed.NewLog(h.Say)
	guarding, err := h.Secrets.Open(h.Warn, log.Client)
	if err != nil {
		return err
	}
	l, err := secret.Listen(ctx, h.Listen, guarding.TLS != nil && guarding.Token != "")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // for errors before Serve, which closes it itself
	web, err := metrics.Listen(ctx, h.HTTP)
	if err != nil {
		return err
	}
	counts := metrics.New()
	return counts.Beside(ctx, web, func(ctx context.Context) error {
		var guarded net.Listener = l
		if guarding.TLS != nil {
			guarded = tls.NewListener(l, guarding.TLS)
		}
		o := host.ServerOptions{Part: h.Part, Parts: h.Parts, Token: guarding.Token, Threads: h.Threads, Connections: h.Connections, Log: log.Client, Metrics: counts}
		return h.serve(ctx, dir, guarded, o, func() error { return h.Ready(l.Addr().String(), metrics.Address(web)) })
	})
}

// serve opens the store, says so, and answers loaders at l.
func (h *Hosting) serve(ctx context.Context, dir string, l net.Listener, o host.ServerOptions, ready func() error) (err error) {
	s, err := h.open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if o.Store, err = store.Sum(vfs.OS, dir); err != nil {
		return err
	}
	server, err := host.NewServer(s.Graph, o)
	if err != nil {
		return err
	}
	o.Metrics.Ready(metrics.Store{Name: o.Store, Segments: s.Segments(), Merged: s.Merged()})
	if err := ready(); err != nil {
		return err
	}
	server.Serve(ctx, l)
	return nil
}

// open opens a store, of which it fetches the host's share where it is on another machine.
func (h *Hosting) open(ctx context.Context, dir string) (_ *store.Store, err error) {
	s, err := store.OpenLater(vfs.OS, dir)
	if errors.Is(err, store.ErrSegments) {
		return store.OpenMerged(vfs.OS, dir, -1) // from all edges
	}
	if err != nil {
		return nil, err
	}
	if s.Graph == nil {
		return nil, errors.Join(fmt.Errorf("%s: found a collection, expected a store to host; give the store that it was sampled from", dir), s.Close())
	}
	defer guard.Catch(&err)()
	if err := h.fetch(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// fetch fetches the host's share.
func (h *Hosting) fetch(ctx context.Context, s *store.Store) error {
	if s.Fetched() {
		return nil
	}
	nodes, edges := host.Ranges(s.Graph, h.Part, h.Parts)
	whole := map[string]bool{}
	rows := func(metas map[string]store.ColumnMeta, columns []*graph.Column, of host.Range) error {
		for _, c := range columns {
			if host.IsServed(c) {
				if err := s.FetchRows(ctx, metas[c.Name].File, of[0], of[1], c.RowBytes()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, n := range s.Graph.Nodes {
		if err := rows(s.Meta.Nodes[n.Type].Columns, n.Columns, nodes[i]); err != nil {
			return err
		}
	}
	for i, e := range s.Graph.Edges {
		m := s.Meta.Edges[e.Type.String()]
		var ranged []*graph.Column
		for _, c := range e.Columns {
			if e.Adj[1-e.Primary] == nil || c.RowValues() != 1 {
				ranged = append(ranged, c)
			} else { // edges of the other direction may be drawn by it, whose rows lie anywhere
				whole[m.Columns[c.Name].File] = true
			}
		}
		if err := rows(m.Columns, ranged, edges[i]); err != nil {
			return err
		}
		if err := s.FetchRows(ctx, m.Arrays["far"], edges[i][0], edges[i][1], indexBytes(e.Adj[e.Primary].Far)); err != nil {
			return err
		}
		if a := e.Adj[1-e.Primary]; a != nil {
			of := nodes[s.Graph.NodeType(e.Type.Near(1-e.Primary))]
			first, end := a.Indptr.At(int(of[0])), a.Indptr.At(int(of[1]))
			for file, x := range map[string]graph.Index{m.Arrays["other_far"]: a.Far, m.Arrays["other_edge_id"]: a.EdgeID} {
				if err := s.FetchRows(ctx, file, first, end, indexBytes(x)); err != nil {
					return err
				}
			}
		}
	}
	return s.Fetch(ctx, func(file string) bool { return whole[file] })
}

// indexBytes is the bytes of an entry of an index.
func indexBytes(x graph.Index) int {
	if x.U64 != nil {
		return 8
	}
	return 4
}
