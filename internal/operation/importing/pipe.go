package importing

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
)

// pipeKinds are the formats of a table that comes through a pipe.
var pipeKinds = []string{"csv", "tsv", "txt", "jsonl", "arrow", "parquet"}

// spool copies the input to an unnamed file next to the output, because tables are read more than once and at any place. It
// returns a file system in which the file has the returned name, and a function that closes it.
func (o *importJob) spool(ctx context.Context, out string) (fsys vfs.FS, name string, done func() error, err error) {
	kind := strings.TrimPrefix(o.Format, ".")
	switch {
	case !slices.Contains(pipeKinds, kind):
		return nil, "", nil, operation.Usagef("found `Format` %q with the source -, expected one of %s, as a pipe has no name that says it", o.Format, strings.Join(pipeKinds, ", "))
	case o.Input == nil:
		return nil, "", nil, operation.Usagef("found the source - without `Input`, expected what it reads; give `Input` os.Stdin or another reader")
	case o.cluster != nil:
		return nil, "", nil, operation.Usagef("found the source - on a cluster, expected files that all workers can read; write the pipe to a file first")
	case len(o.More) > 0:
		return nil, "", nil, operation.Usagef("found the source - with further files, expected it alone; write the pipe to a file, or import one of them")
	}
	f, err := vfs.OS.Temp(filepath.Dir(filepath.Clean(out)))
	if err != nil {
		return nil, "", nil, err
	}
	if _, err := io.Copy(f, reading{ctx, o.Input}); err != nil {
		return nil, "", nil, errors.Join(err, f.Close())
	}
	o.Format = "edge-list"
	name = "stdin." + kind
	return vfs.WithFile(vfs.OS, name, f), name, f.Close, nil
}

// reading is a reader that ends with a context.
type reading struct {
	ctx context.Context
	r   io.Reader
}

func (r reading) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(b)
}
