package feed

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/graph"
)

// IDColumn is the name by which Features.Texts means the original ids of nodes.
const IDColumn = "#id"

// texts are the texts of nodes.
type texts struct {
	length func(row uint32) int
	add    func(to []byte, row uint32) []byte
}

// HasTexts says whether the rows of a column are texts.
func HasTexts(c *graph.Column) bool { return c.DType == graph.String && len(c.Shape) == 0 }

// textsOf are the texts of a column; nil for a column that has none.
func textsOf(n *graph.Nodes, name string) *texts {
	c := graph.FindColumn(n.Columns, name)
	if name == IDColumn {
		c = n.IDs
		if c == nil || c.DType != graph.String {
			number := func(row uint32) uint64 {
				if c == nil {
					return uint64(row)
				}
				return binary.LittleEndian.Uint64(c.Row(int(row))) // ids that are numbers have 64 bits
			}
			digits := func(row uint32) int {
				n := 1
				for v := number(row); v >= 10; v /= 10 {
					n++
				}
				return n
			}
			return &texts{digits, func(to []byte, row uint32) []byte { return strconv.AppendUint(to, number(row), 10) }}
		}
	}
	if c == nil || !HasTexts(c) {
		return nil
	}
	return &texts{func(row uint32) int { return len(c.Text(int(row))) }, func(to []byte, row uint32) []byte { return append(to, c.Text(int(row))...) }}
}

// addTexts adds the texts of the nodes of a type: text/NAME has the bytes of all, text_offset/NAME where each begins, and the end of the last.
func (l *columnList) addTexts(at string, t int) error {
	n := l.g.Nodes[t]
	for _, name := range l.f.Texts[n.Type] {
		of := textsOf(n, name)
		if of == nil {
			return fmt.Errorf("found no texts %q of %s, expected a column of texts, or %s; graphmill info lists the columns", name, n.Type, IDColumn)
		}
		most := func(*bounds) int64 { return plenty }
		l.addColumns(column{ColumnInfo{Name: at + "text_offset/" + Escaped(name), DType: "int64", Shape: []int{}}, 8,
			func(m *made) int { return len(m.sub.Nodes[t]) + 1 },
			func(dst []byte, m *made) {
				end, to := 0, graph.View[int64](dst)
				for i, row := range m.sub.Nodes[t] {
					to[i] = int64(end)
					end += of.length(row)
				}
				to[len(m.sub.Nodes[t])] = int64(end)
			}, most,
		}, column{ColumnInfo{Name: at + "text/" + Escaped(name), DType: "uint8", Shape: []int{}}, 1,
			func(m *made) (n int) {
				for _, row := range m.sub.Nodes[t] {
					n += of.length(row)
				}
				return n
			},
			func(dst []byte, m *made) {
				to := dst[:0]
				for _, row := range m.sub.Nodes[t] {
					to = of.add(to, row)
				}
			}, most,
		})
	}
	return nil
}
