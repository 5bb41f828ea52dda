package table

import (
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
)

// Underflows holds the counts of Column.Underflows by column.
type Underflows struct {
	names  []string
	counts []*atomic.Uint64
}

// Watch returns the columns, with a count for each column that can underflow. what names their owner.
func (u *Underflows) Watch(what string, columns []Column) []Column {
	columns = slices.Clone(columns)
	for i := range columns {
		u.WatchOne(what, &columns[i])
	}
	return columns
}

// WatchOne is Watch for one column, in place.
func (u *Underflows) WatchOne(what string, c *Column) {
	if c.DType == graph.Float32 && c.Missing == nil {
		c.Underflows = new(atomic.Uint64)
		u.names, u.counts = append(u.names, what+": column "+c.Name), append(u.counts, c.Underflows)
	}
}

// Counts returns the counts above 0 by name.
func (u *Underflows) Counts() map[string]uint64 {
	var counts map[string]uint64
	for i, name := range u.names {
		if n := u.counts[i].Load(); n > 0 {
			if counts == nil {
				counts = map[string]uint64{}
			}
			counts[name] += n
		}
	}
	return counts
}
