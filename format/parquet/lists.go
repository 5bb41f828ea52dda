package parquet

// lists reads rows of lists. A row ends where the next one begins.
func (r *Reader) lists(rows *Rows, n, limit int) error {
	width := max(r.c.Width, 1)
	for {
		if r.at == r.n {
			if err := r.flush(rows); err != nil {
				return err
			}
			if ok, err := r.levels(); err != nil || !ok {
				return err
			}
		}
		for r.at < r.n {
			if r.started && r.entered == r.c.Lists && len(rows.Lengths[r.entered-1]) > 0 {
				if err := r.takeValues(rows, n, limit); err != nil {
					return err
				}
				if r.at == r.n {
					break
				}
			}
			if r.rep[r.at] > 0 {
				if err := r.extendRow(rows); err != nil {
					return err
				}
				continue
			}
			if rows.N >= n || len(rows.Data)+r.pending*width >= limit {
				return r.flush(rows)
			}
			if err := r.beginRow(rows); err != nil {
				return err
			}
		}
		if len(rows.Data)+r.pending*width-r.row > maxRow {
			return unsupportedf("found a row of more than %d bytes, expected fewer", maxRow)
		}
	}
}

// beginRow begins a row with the next element.
func (r *Reader) beginRow(rows *Rows) error {
	// The size of strings is known only after they are read.
	if r.c.Type == Bytes {
		if err := r.flush(rows); err != nil {
			return err
		}
	}
	r.row = len(rows.Data) + r.pending*r.c.Width
	r.started, r.rowLevels = true, 0
	def := int(r.def[r.at])
	if def < r.c.lists[0].present {
		rows.null(r.c, 1)
		r.entered = 0
		r.at++
		return nil
	}
	rows.N++
	return r.enterLists(rows, 0, def)
}

// takeValues takes the elements with values that follow one with a value, whether they extend the row or begin another. It leaves
// all others, and wrong ones, to beginRow and extendRow. A call for each element of short lists takes a tenth more time.
func (r *Reader) takeValues(rows *Rows, n, limit int) error {
	depth, width := r.c.Lists, max(r.c.Width, 1)
	reps, defs := r.rep[:r.n], r.def[:r.n]
	at, levels := r.at, r.rowLevels
	from := at - r.pending // where the values that were not read begin
	lengths := rows.Lengths[depth-1]
	for ; at < len(defs) && int(defs[at]) == r.c.maxDef && int(reps[at]) <= depth; at++ {
		rep := int(reps[at])
		if rep == depth {
			lengths[len(lengths)-1]++
			levels++
			continue
		}
		if levels > maxRowLevels {
			break
		}
		if rep > 0 {
			lists := rows.Lengths[rep-1]
			lists[len(lists)-1]++
			levels++
		} else {
			if rows.N >= n || len(rows.Data)+(at-from)*width >= limit {
				break
			}
			if r.c.Type == Bytes {
				r.pending = at - from
				if err := r.flush(rows); err != nil {
					return err
				}
				from = at
			}
			r.row = len(rows.Data) + (at-from)*r.c.Width
			rows.N++
			levels = 0
		}
		for i := rep; i < depth-1; i++ {
			rows.Lengths[i] = append(rows.Lengths[i], 1)
		}
		lengths = append(lengths, 1)
	}
	rows.Lengths[depth-1] = lengths
	r.at, r.pending, r.rowLevels = at, at-from, levels
	if levels > maxRowLevels {
		return errManyLevels()
	}
	return nil
}

func errManyLevels() error {
	return unsupportedf("found a row of more than %d elements, expected fewer", maxRowLevels)
}

// extendRow adds the next element to the last row.
func (r *Reader) extendRow(rows *Rows) error {
	rep, def := int(r.rep[r.at]), int(r.def[r.at])
	if rep > r.entered || !r.started {
		return corruptf("found repetition level %d, expected at most %d; the file is damaged", rep, r.entered)
	}
	lengths := rows.Lengths[rep-1]
	if len(lengths) == 0 {
		return corruptf("found a row that goes on, expected a new one; the file is damaged")
	}
	if def <= r.c.lists[rep-1].present {
		return corruptf("found definition level %d of an element of a list, expected more than %d; the file is damaged", def, r.c.lists[rep-1].present)
	}
	lengths[len(lengths)-1]++
	if r.rowLevels++; r.rowLevels > maxRowLevels {
		return errManyLevels()
	}
	return r.enterLists(rows, rep, def)
}

// enterLists begins the lists that the next element is the first one of, from level rep on.
func (r *Reader) enterLists(rows *Rows, rep, def int) error {
	r.entered = rep
	for i := rep; i < r.c.Lists; i++ {
		if def < r.c.lists[i].present {
			return unsupportedf("found null in a list, expected a list; fill it, or leave it out")
		}
		if def == r.c.lists[i].present {
			rows.Lengths[i] = append(rows.Lengths[i], 0)
			r.at++
			return nil
		}
		rows.Lengths[i] = append(rows.Lengths[i], 1)
		r.entered++
	}
	if def < r.c.maxDef && r.c.nulls {
		if err := r.flush(rows); err != nil {
			return err
		}
		rows.Ends = append(rows.Ends, uint32(len(rows.Data)))
		r.at++
		return nil
	}
	if def < r.c.maxDef {
		return unsupportedf("found null in a list, expected a value; fill it, or leave it out")
	}
	r.pending++
	r.at++
	return nil
}
