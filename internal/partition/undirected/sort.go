package undirected

// tidy sorts the neighbours of each row, drops duplicates and the node itself, and closes the gaps. from is
// the first node; ends has the end of each row.
func (m *rowMaker) tidy(from uint32) {
	out := 0
	for i, d := range m.degrees {
		end := m.ends[i]
		row := m.neighbours[end-d : end]
		m.sort(row)
		start, v := out, from+uint32(i)
		last := v
		for _, u := range row {
			if u != last && u != v {
				m.neighbours[out] = u
				out++
			}
			last = u
		}
		m.degrees[i] = uint32(out - start)
	}
	m.neighbours = m.neighbours[:out]
}

// sort sorts a row. A row consists of a few ascending runs, one per type and goroutine. Pairs of runs are
// merged until one is left.
func (m *rowMaker) sort(row []uint32) {
	if len(row) <= 16 {
		insert(row)
		return
	}
	m.merge = sized(m.merge, len(row))
	from, to := row, m.merge
	for {
		runs := 0
		for at := 0; at < len(from); {
			mid := runEnd(from, at)
			end := mid
			if mid < len(from) {
				end = runEnd(from, mid)
			}
			runs++
			if runs == 1 && mid == len(from) {
				if &from[0] != &row[0] {
					copy(row, from)
				}
				return
			}
			merge(to[at:end], from[at:mid], from[mid:end])
			at = end
		}
		from, to = to[:len(row)], from
	}
}

// insert is an insertion sort.
func insert(row []uint32) {
	for i := 1; i < len(row); i++ {
		x, j := row[i], i
		for j > 0 && row[j-1] > x {
			row[j] = row[j-1]
			j--
		}
		row[j] = x
	}
}

// runEnd returns the end of the run that begins at a position.
func runEnd(row []uint32, at int) int {
	end := at + 1
	for end < len(row) && row[end] >= row[end-1] {
		end++
	}
	return end
}

// merge merges two ascending lists into dst, which is as long as both together.
func merge(dst, a, b []uint32) {
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			dst[0], b = b[0], b[1:]
		} else {
			dst[0], a = a[0], a[1:]
		}
		dst = dst[1:]
	}
	copy(dst[copy(dst, a):], b)
}
