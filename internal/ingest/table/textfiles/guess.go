package textfiles

import "github.com/graphmill/graphmill/internal/ingest/table"

// Guess examines the first MiB of the first file with rows and returns one guess per field of Fields. If later cells contradict
// a guess, the scan reports them.
func (t *CSV) Guess() ([]table.Guess, error) {
	guesses := make([]table.Guess, len(t.fields))
	for i := range guesses {
		guesses[i] = table.Guess{Unsigned: true, Integer: true, Number: true, Bool: true, Time: true, Rows: true}
	}
	for _, f := range t.files {
		b, whole, _, err := readHead(t.fsys, f.path, f.size, f.comp, nil)
		if err != nil {
			return nil, err
		}
		text := new(block)
		text.grow(len(b), 0)
		n := copy(text.buf, b[min(int(f.body), len(b)):])
		end := max(0, t.syntax.lastRecordEnd(text.buf[:n]))
		if whole {
			end = text.finish(n)
		}
		if t.guess(guesses, text.buf, end) {
			break
		}
	}
	var out []table.Guess
	for i, f := range t.fields {
		if f.Name != "" {
			out = append(out, guesses[i])
		}
	}
	return out, nil
}

// guess examines all complete records up to the first bad one. It returns whether there is a bad one.
func (t *CSV) guess(guesses []table.Guess, b []byte, end int) bool {
	p := &parser{syntax: t.syntax, stops: stopsOf(t.syntax)}
	row := uint64(0)
	for at := 0; at < end; {
		at = p.blanks(b, at)
		if next := lineEnd(b, at); next > 0 {
			at = next
			continue
		}
		for f := 0; ; f++ {
			cell, next, bad := p.field(b, at, end)
			if bad != nil || f == len(guesses) {
				return row > 0
			}
			if b[at] != '"' {
				text := unquotedText(cell)
				if len(text) < len(cell) && len(text) > 0 && guesses[f].Blank == "" {
					guesses[f].Blank = string(cell[:min(len(cell), 40)])
				}
				cell = text
			}
			if t.missing.has(cell) {
				cell = nil
			}
			guesses[f].Add(cell, row)
			at = p.blanks(b, next)
			if next := lineEnd(b, at); next > 0 {
				at = next
				break
			}
			if !p.runs {
				at++
			}
		}
		row++
	}
	return row > 0
}
