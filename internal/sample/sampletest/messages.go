package sampletest

import (
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/messages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// AddMessages restricts in a third of the plans some edge types to the edges with some weights w, which are often none. Negatives that are drawn by degree keep
// the edges of their type.
func AddMessages(r *rapid.T, g *graph.Graph, p *sample.Plan) {
	if rapid.IntRange(0, 2).Draw(r, "messages") > 0 {
		return
	}
	for _, e := range g.Edges {
		name := e.Type.String()
		if p.Negatives != nil && p.Negatives.By == sample.ByDegree && p.SeedEdges == name || rapid.Bool().Draw(r, "all edges") {
			continue
		}
		if p.Messages == nil {
			p.Messages = map[string]sample.Messages{}
		}
		var values []string
		for _, w := range rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 1, 5, rapid.ID[int]).Draw(r, "weights") {
			values = append(values, strconv.Itoa(w))
		}
		p.Messages[name] = sample.Messages{Column: "w", Values: values}
	}
}

// WithMessages is a store with the messages of a plan alone, until done is called; the store itself for a plan without any.
func WithMessages(t testing.TB, s *store.Store, p *sample.Plan) (view *store.Store, done func()) {
	t.Helper()
	if len(p.Messages) == 0 {
		return s, func() {}
	}
	m, err := messages.Open(t.Context(), vfs.OS, filepath.Join(t.TempDir(), "messages"), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return m.Store, func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
