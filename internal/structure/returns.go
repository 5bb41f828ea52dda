package structure

import (
	"context"
	"errors"
)

// mostExact is nodes x edges up to which return probabilities are exact by default.
const mostExact = 1e12

// returnRows are the rows that walks follow: out lists where a step goes, in where it came from. They are the same matrix where each edge
// has its reverse.
type returnRows struct {
	out, in *matrix
	inverse []float64 // by node: 1 / the entries of its row of out, and 0 for an empty row; setInverse sets it
}

func (r *returnRows) symmetric() bool { return r.out == r.in }

func (r *returnRows) close() error {
	if r.symmetric() {
		return r.out.close()
	}
	return errors.Join(r.out.close(), r.in.close())
}

// setInverse sets inverse, of 8 bytes per node.
func (r *returnRows) setInverse() {
	r.inverse = make([]float64, r.out.nodes())
	for v := range r.inverse {
		r.inverse[v] = r.inverseOf(uint32(v))
	}
}

// inverseOf is 1 / the entries of a row of out, and 0 for an empty one.
func (r *returnRows) inverseOf(v uint32) float64 {
	if d := r.out.degree(v); d > 0 {
		return 1 / float64(d)
	}
	return 0
}

// returnsNeed is the memory of returnRows, of rows in a file.
func (j *job) returnsNeed() int64 {
	need := j.matrixNeed()
	if j.spec.direction() != Both {
		need += j.matrixNeed()
	}
	return need
}

// newReturnRows builds the rows. memory is for their entries.
func (j *job) newReturnRows(ctx context.Context, order []uint32, memory int64) (_ *returnRows, err error) {
	r := &returnRows{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	switch j.spec.direction() {
	case Both:
		r.out, err = j.newMatrix(ctx, bothRows, order, memory)
		r.in = r.out
	default:
		forms := [2]form{outRows, inRows}
		if j.spec.direction() == In {
			forms = [2]form{inRows, outRows}
		}
		if r.out, err = j.newMatrix(ctx, forms[0], order, memory/2); err != nil {
			return nil, err
		}
		if r.in, err = j.newMatrix(ctx, forms[1], order, memory/2); err != nil {
			return nil, err
		}
		var same bool
		if same, err = equalRows(r.out, r.in); err == nil && same {
			second := r.in
			r.in = r.out
			err = second.close()
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// equalRows says whether two matrices are the same.
func equalRows(a, b *matrix) (bool, error) {
	for v := range a.nodes() {
		x, y := a.row(uint32(v)), b.row(uint32(v))
		if len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if x[i] != y[i] {
				return false, nil
			}
		}
		if err := errors.Join(a.touched(int64(len(x))), b.touched(int64(len(y)))); err != nil {
			return false, err
		}
	}
	return true, nil
}

// returns computes the probabilities that a walk is back at its start after 1, 2, ... steps.
func (j *job) returns(ctx context.Context) error {
	exact := float64(j.rows())*float64(j.edges) <= mostExact
	if j.spec.Method != "" {
		exact = j.spec.Method == Exact
	}
	if exact || j.spec.Steps <= exactSteps {
		return j.exactReturns(ctx)
	}
	return j.estimateReturns(ctx)
}
