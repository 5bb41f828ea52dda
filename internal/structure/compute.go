package structure

import (
	"context"
	"fmt"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options of Compute.
type Options struct {
	Threads int // at least 1
	// Memory bounds the bytes of vectors, rows and buffers; 0: no bound. Rows that do not fit go to a temporary file. The caller holds Taken of it.
	Memory, Taken int64
	FS            vfs.FS // of the temporary file; nil: vfs.OS
	Temp          string // its folder; "": the system's
	// Keep has a bit for each edge of a type: bit id%64 of word id/64. Edges whose bit is 0 are left out. A type that is not a key
	// keeps all of its edges.
	Keep map[graph.EdgeType][]uint64
	// Progress, if not nil, receives how much of the work is done, in units that the structure chooses. One goroutine calls it at a time.
	Progress func(done, total int64)
	// Touched, if not nil, receives the number of bytes of the graph's arrays that were read, so that mapped pages can be given
	// back (store.Store.Touched).
	Touched func(bytes int64) error
}

// Result says how a column was computed.
type Result struct {
	// Method is exact or estimate.
	Method string
	// Errors has, for each position of an estimate, the root mean square over the rows of the standard error of a value. It is 0 for a position that
	// is exact. It is nil where Method is exact.
	Errors []float64
	// Notes are whole sentences for the report, without an order that matters.
	Notes []string
}

func (r *Result) note(format string, a ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, a...)) }

// rowBlock is the most rows that a write receives.
const rowBlock = 4096

// Compute computes the column of a Spec for the nodes of a type. Once all values are known, it calls write with blocks of rows in
// ascending order: values has Width numbers for each of the rows from first on, is finite, and is valid during the call alone. A node type without
// nodes has no block.
//
// The graph must be unchanged until Compute returns. An error of write is returned as it is.
func Compute(ctx context.Context, g *graph.Graph, nodeType string, s Spec, o Options, write func(first int, values []float64) error) (_ *Result, err error) {
	defer guard.Catch(&err)()
	node, types, err := s.resolve(g, nodeType)
	if err != nil {
		return nil, err
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	o.Threads = max(1, o.Threads)
	q, err := newSquare(g, node, types, s, o)
	if err != nil {
		return nil, err
	}
	j := &job{square: q, spec: s, result: &Result{Method: Exact}, write: write}
	defer j.close()
	switch s.Structure {
	case Degree, LogDegree:
		err = j.degrees(ctx)
	case PageRank:
		err = j.pageRank(ctx)
	case RandomWalkPE:
		err = j.returns(ctx)
	case LaplacianPE:
		err = j.laplacian(ctx)
	case CoreNumber:
		err = j.cores(ctx)
	case Clustering:
		err = j.clustering(ctx)
	case ComponentSize:
		err = j.componentSizes(ctx)
	}
	if err != nil {
		return nil, err
	}
	return j.result, nil
}

// job is one call of Compute.
type job struct {
	*square
	vectors
	spec   Spec
	result *Result
	write  func(first int, values []float64) error
}

// writeRows writes the rows of the asked node type: value gives position p of the node whose number within the type is row.
func (j *job) writeRows(ctx context.Context, width int, value func(row, p int) float64) error {
	rows := j.rows()
	block := make([]float64, min(rows, rowBlock)*width)
	for first := 0; first < rows; first += rowBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(rowBlock, rows-first)
		for i := range n {
			for p := range width {
				block[i*width+p] = value(first+i, p)
			}
		}
		if err := j.write(first, block[:n*width]); err != nil {
			return err
		}
	}
	return nil
}

// tell reports progress.
func (j *job) tell(done, total int64) {
	if j.options.Progress != nil {
		j.options.Progress(done, total)
	}
}

// progress counts work of several goroutines.
type progress struct {
	lock        sync.Mutex
	done, total int64
	tell        func(done, total int64)
}

func (j *job) progress(total int64) *progress { return &progress{total: total, tell: j.tell} }

func (p *progress) add(n int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.done += n
	p.tell(p.done, p.total)
}
