package lakefiles

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// convertTimes converts the times of column i of the chunk from the unit of the file to the unit of the table. Files with times in INT96,
// as Spark writes them, have nanoseconds where the table has microseconds, and a column of dates that became one of times has seconds.
func (w *lakeWorker) convertTimes(i int, from graph.Unit, f *lakeFile) error {
	a, v := &w.columns[i], &w.vectors[i]
	unit := w.t.snapshot.Columns[w.numbers[i]].Unit
	if a.DType != graph.Int64 || unit == "" {
		return badf("%s: found times in column %q that are counted in %s in the file and in %s in the table, expected them to be read as times, not as %s; read the column as datetime", f.path, a.Name, from, unit, a.DType)
	}
	have, want := from.PerSecond(), unit.PerSecond()
	times := graph.View[int64](v.Data)
	for at, t := range times {
		if len(a.Shape) == 0 {
			if _, empty := slices.BinarySearch(v.Empty, uint32(at)); empty {
				continue
			}
		}
		var converted, back int64
		if want >= have {
			converted = t * (want / have)
			back = converted / (want / have)
		} else {
			converted = t / (have / want)
			back = converted * (have / want)
		}
		if back != t {
			return badf("%s: found the time %d in column %q, counted in %s since 1970, expected one that 64 bits hold in %s, as the table has them; correct it, or write the table again", f.path, t, a.Name, from, unit)
		}
		times[at] = converted
	}
	if !a.Mark {
		v.Empty = nil
	}
	return nil
}
