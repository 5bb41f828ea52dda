package transform

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// counts are rows by part. The last number is rows in no part.
type counts [numParts + 1]int

const numParts = 3

// fraction is the part of a share after the decimal point, in units of 1e-9.
type fraction int64

const wholeRow fraction = 1e9

// shares divides classes of rows by ratios. want has the size of each part, over all classes.
//
// Each class has in each part, and in no part, its size times the ratio, rounded down or up. Of all such divisions it is the one whose sum of squared
// differences from the unrounded shares is least. Among equally good ones the key decides.
func shares(sizes []int, ratios []float64, want counts, key uint64) []counts {
	x := rounding{out: make([]counts, len(sizes)), above: make([][numParts + 1]fraction, len(sizes)), up: make([][numParts + 1]bool, len(sizes)), key: key}
	var have counts
	for c, size := range sizes {
		x.begin(c, size, ratios)
		for p, n := range x.out[c] {
			have[p] += n
		}
	}
	for c := range sizes {
		x.offer(c)
	}
	for p := 0; p < len(have); {
		if have[p] <= want[p] {
			p++
			continue
		}
		path := x.path(p, &have, &want)
		if path == nil {
			break // not where the sizes are the sums of shares
		}
		for i, from := range path[:len(path)-1] {
			x.move(from, path[i+1])
		}
		have[p]--
		have[path[len(path)-1]]++
	}
	return x.out
}

// rounding is a division of classes in which each share is rounded down or up. It starts with the nearest one of each class, and
// moves rows of classes between parts along the cheapest paths until the parts have their sizes: the algorithm of successive
// shortest paths for a flow of least cost.
type rounding struct {
	out   []counts
	above [][numParts + 1]fraction
	up    [][numParts + 1]bool // the shares that are rounded up
	moves [numParts + 1][numParts + 1]moveHeap
	key   uint64
}

// begin rounds the shares of a class alone.
func (x *rounding) begin(c, size int, ratios []float64) {
	left, rest := size, 1.0
	var order []int
	for p := range x.out[c] {
		ratio := max(rest, 0)
		if p < numParts {
			ratio = ratios[p]
			rest -= ratio
		}
		share := float64(float64(size) * ratio)
		whole := math.Floor(share + 1e-9 + float64(share*1e-15))
		x.out[c][p] = int(whole)
		x.above[c][p] = max(0, fraction(math.Round(float64((share-whole)*float64(wholeRow)))))
		left -= int(whole)
		order = append(order, p)
	}
	slices.SortStableFunc(order, func(p, q int) int { return cmp.Compare(x.above[c][q], x.above[c][p]) })
	for _, p := range order[:max(0, min(left, len(order)))] {
		x.out[c][p]++
		x.up[c][p] = true
	}
}

// offer adds the moves that a class allows.
func (x *rounding) offer(c int) {
	for p, from := range x.up[c] {
		for q, to := range x.up[c] {
			if from && !to && x.above[c][q] > 0 {
				heap.Push(&x.moves[p][q], move{x.above[c][p] - x.above[c][q], draw.At(x.key, uint64(c)), c})
			}
		}
	}
}

// best is the cheapest move of a row from one part to another.
func (x *rounding) best(p, q int) (move, bool) {
	h := &x.moves[p][q]
	for len(*h) > 0 {
		m := (*h)[0]
		if x.up[m.class][p] && !x.up[m.class][q] {
			return m, true
		}
		heap.Pop(h)
	}
	return move{}, false
}

// path is the cheapest list of parts, from p to one with too few rows, along which rows can be moved; nil: there is none.
func (x *rounding) path(p int, have, want *counts) []int {
	const far = math.MaxInt64
	var cost, before [numParts + 1]int64
	for q := range cost {
		cost[q], before[q] = far, -1
	}
	cost[p] = 0
	for range cost {
		for a := range cost {
			for b := range cost {
				if a == b || cost[a] == far {
					continue
				}
				if m, ok := x.best(a, b); ok && cost[a]+int64(m.cost) < cost[b] {
					cost[b], before[b] = cost[a]+int64(m.cost), int64(a)
				}
			}
		}
	}
	end := -1
	for q := range cost {
		if have[q] < want[q] && cost[q] < far && (end < 0 || cost[q] < cost[end]) {
			end = q
		}
	}
	if end < 0 {
		return nil
	}
	path := []int{end}
	for q := before[end]; q >= 0 && len(path) <= len(cost); q = before[q] {
		path = append(path, int(q))
	}
	slices.Reverse(path)
	return path
}

// move moves a row of the cheapest class from one part to another.
func (x *rounding) move(p, q int) {
	m, ok := x.best(p, q)
	if !ok {
		return
	}
	x.up[m.class][p], x.up[m.class][q] = false, true
	x.out[m.class][p]--
	x.out[m.class][q]++
	x.offer(m.class)
}

// move is a row of a class that can change its part.
type move struct {
	cost  fraction
	tie   uint64
	class int
}

type moveHeap []move

func (h moveHeap) Len() int { return len(h) }
func (h moveHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].cost, h[j].cost), cmp.Compare(h[i].tie, h[j].tie), cmp.Compare(h[i].class, h[j].class)) < 0
}
func (h moveHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *moveHeap) Push(m any) { *h = append(*h, m.(move)) } //nolint:forcetypeassert // moves alone are pushed

// Pop implements heap.Interface.
func (h *moveHeap) Pop() any {
	m := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return m
}
