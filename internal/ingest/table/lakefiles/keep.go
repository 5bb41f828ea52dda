package lakefiles

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// run is n rows of a chunk from row at on, none of which is deleted.
type run struct{ at, n int }

// liveRuns appends the rows that are not deleted of rows rows from row first of the file on.
func (f *lakeFile) liveRuns(runs []run, first uint64, rows int) []run {
	at := 0
	if f.deleted != nil {
		deleted := f.deleted.Iterator()
		deleted.AdvanceIfNeeded(first)
		for deleted.HasNext() {
			next := deleted.Next()
			if next >= first+uint64(rows) {
				break
			}
			if n := int(next-first) - at; n > 0 {
				runs = append(runs, run{at, n})
			}
			at = int(next-first) + 1
		}
	}
	if at < rows {
		runs = append(runs, run{at, rows - at})
	}
	return runs
}

// keepBools moves the values of rows that are kept to the front, and cuts off the others.
func keepBools(values []bool, live []run) []bool {
	n := 0
	for _, r := range live {
		n += copy(values[n:], values[r.at:r.at+r.n])
	}
	return values[:n]
}

// keepRows moves the rows of a vector that are kept to its front, and cuts off the others. rows is the number of its rows. The vector's
// memory is written to.
func keepRows(v *table.Vector, c *table.Column, live []run, rows int) {
	v.Empty = keepEmpty(v.Empty, live)
	// Elements of a level are those of the level before, times a fixed dimension, or the sum of their lengths. Each level
	// maps the runs of the one before to runs of its own.
	runs, elements, level := live, rows, 0
	for _, d := range c.Shape {
		if d >= 0 {
			runs = scaleRuns(runs, d)
			elements *= d
			continue
		}
		lengths := v.Lengths[level]
		starts := make([]int, elements+1)
		for i, n := range lengths[:elements] {
			starts[i+1] = starts[i] + int(n)
		}
		inner := make([]run, 0, len(runs))
		n := 0
		for _, r := range runs {
			inner = append(inner, run{starts[r.at], starts[r.at+r.n] - starts[r.at]})
			n += copy(lengths[n:], lengths[r.at:r.at+r.n])
		}
		v.Lengths[level] = lengths[:n]
		runs, elements = inner, starts[elements]
		level++
	}
	if c.DType == graph.String {
		keepTexts(v, runs)
		return
	}
	size, n := c.DType.Size(), 0
	for _, r := range runs {
		n += copy(v.Data[n:], v.Data[r.at*size:(r.at+r.n)*size])
	}
	v.Data = v.Data[:n:n]
}

// scaleRuns is runs of elements of which each row has n.
func scaleRuns(runs []run, n int) []run {
	scaled := make([]run, len(runs))
	for i, r := range runs {
		scaled[i] = run{r.at * n, r.n * n}
	}
	return scaled
}

// keepTexts keeps runs of texts.
func keepTexts(v *table.Vector, runs []run) {
	at, bytes := 0, uint32(0)
	for _, r := range runs {
		if r.n == 0 {
			continue
		}
		from := uint32(0)
		if r.at > 0 {
			from = v.Ends[r.at-1]
		}
		// Ends that are moved to the front are those of texts before r.at, which are not read any more.
		for i := range r.n {
			end := v.Ends[r.at+i]
			v.Ends[at+i] = bytes + end - from
		}
		to := v.Ends[at+r.n-1] - bytes + from
		copy(v.Data[bytes:], v.Data[from:to])
		bytes += to - from
		at += r.n
	}
	v.Ends, v.Data = v.Ends[:at], v.Data[:bytes:bytes]
}

// keepEmpty renumbers the empty rows among those that are kept.
func keepEmpty(empty []uint32, live []run) []uint32 {
	if len(empty) == 0 {
		return empty
	}
	kept, at, next := empty[:0], 0, 0
	for _, r := range live {
		i, _ := slices.BinarySearch(empty[at:], uint32(r.at))
		for at += i; at < len(empty) && int(empty[at]) < r.at+r.n; at++ {
			kept = append(kept, uint32(next+int(empty[at])-r.at))
		}
		next += r.n
	}
	return kept
}
