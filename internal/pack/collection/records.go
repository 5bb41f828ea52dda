package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
)

// constraintsFile has the sizes to which TF-GNN pads the Examples.
const constraintsFile = "size_constraints.json"

// constraints are the arguments of TF-GNN's SizeConstraints, by node or edge set.
type constraints struct {
	Components int            `json:"total_num_components"`
	Nodes      map[string]int `json:"total_num_nodes"`
	Edges      map[string]int `json:"total_num_edges"`
}

// Recorded lists the differences between the Examples of packs and the collection.
type Recorded struct {
	Left    []string // data of the collection that the Examples lack
	Rounded []string // columns with float64 values that float32 rounds
	examplecolumns.Narrowed
}

// Records writes the packs of an epoch as TFRecords into w, which the caller seals: one GraphTensor per pack
// with one component per graph, their schema, and the files of Fill. If the limits name every type,
// constraintsFile has sizes that every pack fits, with room for TF-GNN's padding.
func Records(ctx context.Context, fsys vfs.FS, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, files shards.Options, opt Options) (r Recorded, err error) {
	e, left, rounded, err := export.NewEncoding(fsys, s)
	if err != nil {
		return r, err
	}
	r.Left, r.Rounded = left, rounded
	files.Records = uint64(l.Meta.Packs)
	out, err := shards.New(w, files)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	newChunk := func() *joinedChunk {
		k := &joinedChunk{packs: newJoined(s.Collection), records: out.NewChunk()}
		k.encode, k.narrowed = e.Of(&k.packs.Collection)
		return k
	}
	encode := func(k *joinedChunk) error {
		for i := range k.packs.Graphs {
			record, err := k.encode(i)
			if err == nil {
				err = k.records.Append(record, uint64(k.first)+uint64(i))
			}
			if err != nil {
				return fmt.Errorf("%s: pack %d: %w", s.Dir, k.first+int64(i), err)
			}
		}
		return k.records.End()
	}
	sink := func(k *joinedChunk) error {
		r.Add(k.narrowed.Underflows)
		clear(k.narrowed.Underflows)
		return out.Write(k.records)
	}
	if err := gatherPacks(ctx, w, l, s, g, seed, epoch, opt, newChunk, encode, sink); err != nil {
		return r, err
	}
	if err := out.Finish(); err != nil {
		return r, err
	}
	if shape, err := NewShape(l, s.Collection); err == nil {
		c := constraints{Components: shape.Graphs, Nodes: map[string]int{}, Edges: map[string]int{}}
		nodes, edges := e.Sets()
		for name, i := range nodes {
			c.Nodes[name] = shape.Nodes[s.Collection.Nodes[i].Type]
		}
		for name, i := range edges {
			c.Edges[name] = shape.Edges[s.Collection.Edges[i].Type.String()]
		}
		text, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			return r, err
		}
		if err := w.WriteFile(constraintsFile, append(text, '\n')); err != nil {
			return r, err
		}
	} else {
		r.Left = append(r.Left, constraintsFile+", which needs a limit for each type")
	}
	return r, w.WriteFile(output.SchemaFile, tfgnn.AppendText(nil, e.Schema()))
}
