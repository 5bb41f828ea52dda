package sampling

import (
	"errors"

	"github.com/graphmill/graphmill/internal/export/picked"
	"github.com/graphmill/graphmill/internal/export/picture"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// draw adds a picture of the first subgraph of a sealed collection to the report, where it is small enough.
func (s *sampling) draw() (err error) {
	if s.o.NoReport || s.o.Format != option.FormatCollection || s.o.cluster != nil {
		return nil
	}
	out, err := store.Open(vfs.OS, s.w.Dir())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if out.Collection == nil || out.Collection.Graphs == 0 {
		return nil
	}
	g, err := picked.Subgraphs(out, nil, []int{0}, picture.Most)
	switch {
	case errors.Is(err, picked.ErrLarge):
		return nil
	case err != nil:
		return err
	case len(g.Nodes) > 0:
		s.report.Picture(*picture.Of(g, "The first subgraph", false))
	}
	return nil
}
