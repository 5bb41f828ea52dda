package importing

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// disk has as much free space as it says.
type disk struct {
	vfs.FS
	free int64
	err  error
}

func (d disk) Free(string) (int64, error) { return d.free, d.err }

// papers100M with float16 is 28.4 GB of features, 1.3 GB of labels and splits, 6.9 GB of edges, and 12.9 GB of records while it is made.
func TestLikeForeseesTheDisk(t *testing.T) {
	const gb = 1_000_000_000
	for name, c := range map[string]struct {
		name       string
		dtype      graph.DType
		symmetrise bool
		both       bool
		disk       disk
		text       string
	}{
		"room":        {name: "ogbn-papers100M", dtype: graph.Float16, disk: disk{free: 50 * gb}},
		"no room":     {name: "ogbn-papers100M", dtype: graph.Float16, disk: disk{free: 49 * gb}, text: "or a larger divisor, such as ogbn-papers100M/2"},
		"float32":     {name: "ogbn-papers100M", dtype: graph.Float32, disk: disk{free: 50 * gb}, text: "/2"},
		"no features": {name: "ogbn-papers100M", disk: disk{free: 22 * gb}},
		"reverses":    {name: "ogbn-papers100M", symmetrise: true, disk: disk{free: 22 * gb}, text: "/2"},
		"both":        {name: "ogbn-papers100M", both: true, disk: disk{free: 22 * gb}, text: "/2"},
		"divided":     {name: "ogbn-papers100M/4", dtype: graph.Float16, disk: disk{free: gb}, text: "/50"},
		"unknown":     {name: "igb-large", dtype: graph.Float32, disk: disk{err: errors.New("no statfs")}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := generate.ShapeOf(c.name)
			if err != nil {
				t.Fatal(err)
			}
			if c.symmetrise {
				if err := s.Symmetrise(); err != nil {
					t.Fatal(err)
				}
			}
			o := option.Like{Build: option.Build{Both: c.both}}
			var note string
			o.Note = func(text string) { note = text }
			err = foreseeLike(c.disk, &o, s, shapeInput(1, s, c.dtype), "out.store")
			if (err != nil) != (c.text != "") || err != nil && (!errors.Is(err, vfs.ErrSpace) || !strings.HasSuffix(err.Error(), c.text)) {
				t.Errorf("found %v, expected %q", err, c.text)
			}
			if !strings.HasPrefix(note, "out.store will have about ") {
				t.Errorf("found the note %q, expected a forecast", note)
			}
		})
	}
}
