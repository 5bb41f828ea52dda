package seeds

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Times is the time of each seed, for a plan with "before": the value of the seed node in a column of its type or, for
// links, the value in a column of their table. A name that ends in .npy, and is no column, is a file in fsys with the time
// of each seed: an array of integers of 64 bits or less, in the unit of the edges' times, or of floats, read as float64. A date
// or a number that is no column is the time of all seeds (timeOfText). A column of times in another unit than unit, the unit of the
// edges' times, is converted where that loses nothing. A seed without a time has graph.NoTime: no edge is older.
// Columns of categories, texts, truth values and integers of 8, 16 and unsigned 64 bits are refused.
func Times(ctx context.Context, fsys vfs.FS, g *graph.Graph, s *Seeds, column string, unit graph.Unit) ([]sample.Time, error) {
	owner, columns := "the links", s.Columns
	if len(s.Types) == 1 {
		n := g.Nodes[g.NodeType(s.Types[0])]
		owner, columns = "node type "+n.Type, n.Columns
	}
	c := graph.FindColumn(columns, column)
	if c == nil && IsFileOfTimes(column) {
		return timesOfFile(ctx, fsys, column, len(s.Nodes)/len(s.Types))
	}
	if c == nil {
		switch t, is, err := timeOfText(column, unit); {
		case err != nil:
			return nil, tagged.Errorf(sample.ErrSeed, "`SeedTime`: %w", err)
		case is:
			return slices.Repeat([]sample.Time{t}, len(s.Nodes)/len(s.Types)), nil
		}
		expected := "a column, of which there is none"
		if columns != nil {
			var have []string
			for _, c := range columns {
				if !strings.HasPrefix(c.Name, "#") {
					have = append(have, c.Name)
				}
			}
			expected = "one of " + strings.Join(have, ", ")
		}
		return nil, tagged.Errorf(sample.ErrSeed, "found no column %q of %s for the times of the seeds, expected %s; give `SeedTime`, a column or one time for all seeds such as 2024-04-01", column, owner, expected)
	}
	at, err := timeReader(c, unit)
	if err != nil {
		return nil, tagged.Errorf(sample.ErrSeed, "column %q of %s: %w%s; give `SeedTime`", column, owner, err, timesAmong(columns))
	}
	times := make([]sample.Time, len(s.Nodes)/len(s.Types))
	for i := range times {
		row := i
		if len(s.Types) == 1 {
			row = int(s.Nodes[i])
		}
		if times[i], err = at(row); err != nil {
			return nil, tagged.Errorf(sample.ErrSeed, "column %q of %s, row %d: %w", column, owner, row, err)
		}
	}
	return times, nil
}

// timeOfText is the time that a text writes, in a unit: a date or a time as package isotime reads it, or a number in the unit. is says
// whether the text is one of these. A date needs a unit that holds it exactly.
func timeOfText(text string, unit graph.Unit) (t sample.Time, is bool, err error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return sample.IntTime(n), true, nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return sample.FloatTime(x), true, nil
	}
	moment, is := isotime.Parse([]byte(text))
	if !is {
		return t, false, nil
	}
	if unit == "" {
		return t, true, fmt.Errorf("found the date %s, expected a number, because the times of the edges have no unit; give a number, or import them as times", text)
	}
	per := unit.PerSecond()
	if one := int64(1e9) / per; int64(moment.Nanos)%one != 0 {
		return t, true, fmt.Errorf("found %s, expected whole %s, the unit of the times of the edges; leave out the further digits", text, unit)
	}
	if moment.Seconds > math.MaxInt64/per-1 || moment.Seconds < math.MinInt64/per+1 {
		return t, true, fmt.Errorf("found %s, expected a time that 64 bits hold in %s, the unit of the times of the edges; take one between 1678 and 2261", text, unit)
	}
	return sample.IntTime(moment.Seconds*per + int64(moment.Nanos)/(1e9/per)), true, nil
}

// IsFileOfTimes says whether a name that is no column of times means a file.
func IsFileOfTimes(name string) bool { return strings.HasSuffix(name, ".npy") }

// timesOfFile is the first n times of a file, which must have n, or more where the seeds are the first of a longer list.
func timesOfFile(ctx context.Context, fsys vfs.FS, path string, n int) ([]sample.Time, error) {
	tab, err := arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{{Name: "time", Path: path}})
	if err != nil {
		return nil, err
	}
	f := tab.Fields()[0]
	column := table.Column{Name: "time", DType: graph.Int64}
	switch {
	case len(f.Shape) > 0 || !f.DType.IsInt() && f.DType != graph.Float32 && f.DType != graph.Float64:
		return nil, tagged.Errorf(sample.ErrSeed, "%s: found %s rows of shape %v, expected a number per seed, integers or floats of 32 or 64 bits; save the times as a vector, datetime64 as int64", path, f.DType, f.Shape)
	case tab.Rows() < uint64(n):
		return nil, tagged.Errorf(sample.ErrSeed, "%s: found %d times, expected %d, one per seed; save a time for each seed, in the order of the seeds", path, tab.Rows(), n)
	case !f.DType.IsInt():
		column.DType = graph.Float64
	}
	times := make([]sample.Time, 0, n)
	_, err = tab.Scan(ctx, []table.Column{column}, 1, func(_ int, c *table.Chunk) error {
		at, err := numberReader(&graph.Column{DType: column.DType, Rows: c.Rows, Values: c.Columns[0].Data})
		for i := 0; i < c.Rows && len(times) < n && err == nil; i++ {
			times = append(times, at(i))
		}
		return err
	})
	return times, err
}

// inUnit converts times of a unit to another.
func inUnit(t int64, from, to graph.Unit) (int64, error) {
	if t == graph.NoTime {
		return t, nil
	}
	up, down := to.PerSecond()/from.PerSecond(), from.PerSecond()/to.PerSecond()
	switch {
	case up > 1 && (t > math.MaxInt64/up || t < math.MinInt64/up):
		return 0, fmt.Errorf("found the time %d %s, expected one that 64 bits hold in %s, the unit of the edges; import both in one unit", t, from, to)
	case up > 1:
		return t * up, nil
	case t%down != 0:
		return 0, fmt.Errorf("found the time %d %s, expected whole %s, the unit of the edges; import both in one unit", t, from, to)
	}
	return t / down, nil
}

func timeReader(c *graph.Column, unit graph.Unit) (func(row int) (sample.Time, error), error) {
	if c.Unit != "" && unit != "" && c.Unit != unit {
		v := graph.View[int64](c.Values)
		return func(i int) (sample.Time, error) {
			t, err := inUnit(v[i], c.Unit, unit)
			return sample.IntTime(t), err
		}, nil
	}
	at, err := numberReader(c)
	return func(i int) (sample.Time, error) { return at(i), nil }, err
}

// timesAmong names the columns that can be times.
func timesAmong(columns []*graph.Column) string {
	var names []string
	for _, c := range columns {
		if _, err := numberReader(c); err == nil && !strings.HasPrefix(c.Name, "#") {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return ", of which there is no column"
	}
	return ", as in " + strings.Join(names, ", ")
}

func numberReader(c *graph.Column) (func(row int) sample.Time, error) {
	if c.Ragged() || c.RowValues() != 1 {
		return nil, fmt.Errorf("found shape %v, expected one value per row", c.Shape)
	}
	if c.Categories != nil {
		return nil, fmt.Errorf("found categories, expected times or numbers")
	}
	switch c.DType {
	case graph.Int64:
		v := graph.View[int64](c.Values)
		return func(i int) sample.Time { return sample.IntTime(v[i]) }, nil
	case graph.Int32:
		v := graph.View[int32](c.Values)
		return func(i int) sample.Time { return sample.IntTime(int64(v[i])) }, nil
	case graph.Uint32:
		v := graph.View[uint32](c.Values)
		return func(i int) sample.Time { return sample.IntTime(int64(v[i])) }, nil
	case graph.Float32:
		v := graph.View[float32](c.Values)
		return func(i int) sample.Time { return sample.FloatTime(float64(v[i])) }, nil
	case graph.Float64:
		v := graph.View[float64](c.Values)
		return func(i int) sample.Time { return sample.FloatTime(v[i]) }, nil
	}
	return nil, fmt.Errorf("found dtype %s, expected int32, int64, uint32, float32 or float64", c.DType)
}
