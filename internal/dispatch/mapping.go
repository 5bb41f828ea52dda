package dispatch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// WriteMapping adds orig_nids/<node type>.npy and orig_eids/<src>+<rel>+<dst>.npy to an output whose parts
// have original ids: entry i, an int64, is the original id of the node or edge with the new type-wise id i.
// partition_graph returns the same arrays with return_mapping.
func WriteMapping(ctx context.Context, fsys vfs.FS, w *store.Writer, g *graph.Graph, parts int) error {
	for _, n := range g.Nodes {
		if err := concatenate(ctx, fsys, w, "orig_nids/"+store.FileName(n.Type)+".npy", origNodeFile, n.Type, parts); err != nil {
			return err
		}
	}
	for _, e := range g.Edges {
		name := "orig_eids/" + path.Base(store.EdgesDir(e.Type)) + ".npy"
		if err := concatenate(ctx, fsys, w, name, origEdgeFile, e.Type.String(), parts); err != nil {
			return err
		}
	}
	return nil
}

// concatenate writes an array that concatenates the tensor of all parts.
func concatenate(ctx context.Context, fsys vfs.FS, w *store.Writer, name, file, tensor string, parts int) (err error) {
	a, err := w.Array(name, graph.Int64)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	buf := make([]byte, 256<<10)
	for p := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := copyTensor(fsys, a, filepath.Join(w.Dir(), partFolder(p), file), tensor, buf); err != nil {
			return err
		}
	}
	return nil
}

func copyTensor(fsys vfs.FS, to *store.Array, file, tensor string, buf []byte) (err error) {
	d, err := dgl.OpenDict(fsys, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	x, ok := d.Find(tensor)
	if !ok {
		return fmt.Errorf("%s: found no tensor %q", file, tensor)
	}
	for at := int64(0); at < x.Size; {
		b := buf[:min(int64(len(buf)), x.Size-at)]
		if _, err := d.ReadAt(b, x.Offset+at); err != nil {
			return err
		}
		if _, err := to.Write(b); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}
