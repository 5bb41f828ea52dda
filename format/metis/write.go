package metis

import (
	"fmt"
	"io"
	"strconv"
)

// writeBuffer is the number of bytes that are written at a time.
const writeBuffer = 256 << 10

// Write writes a graph as text, with the neighbours in their order.
func Write(w io.Writer, g *Graph) error {
	b := fmt.Appendf(make([]byte, 0, writeBuffer+64), "%d %d", g.Len(), len(g.Neighbours)/2)
	digits := 0
	for i, there := range []bool{g.Sizes != nil, g.Weights != nil, g.EdgeWeights != nil} {
		if there {
			digits += []int{100, 10, 1}[i]
		}
	}
	if digits > 0 {
		b = fmt.Appendf(b, " %03d", digits)
	}
	if g.Weights != nil && g.Constraints > 1 {
		b = fmt.Appendf(b, " %d", g.Constraints)
	}
	b = append(b, '\n')
	number := func(v uint64) error {
		if b[len(b)-1] != '\n' {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, v, 10)
		if len(b) < writeBuffer {
			return nil
		}
		_, err := w.Write(b[:len(b)-1])
		b = append(b[:0], b[len(b)-1]) // the last byte says whether a line begins
		return err
	}
	for v := range g.Len() {
		if g.Sizes != nil {
			if err := number(uint64(g.Sizes[v])); err != nil {
				return err
			}
		}
		if g.Weights != nil {
			for _, x := range g.Weights[v*g.Constraints : (v+1)*g.Constraints] {
				if err := number(uint64(x)); err != nil {
					return err
				}
			}
		}
		for i := g.Offsets[v]; i < g.Offsets[v+1]; i++ {
			if err := number(uint64(g.Neighbours[i]) + 1); err != nil {
				return err
			}
			if g.EdgeWeights != nil {
				if err := number(uint64(g.EdgeWeights[i])); err != nil {
					return err
				}
			}
		}
		b = append(b, '\n')
	}
	_, err := w.Write(b)
	return err
}
