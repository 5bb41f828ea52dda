package pack

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
)

// heuristic reduces the sizes of a graph, or the remaining room of a pack, to one number. The number grows
// with each size.
type heuristic struct {
	name    string
	weights []int64 // of "weighted"
	one     int     // index of a single component
}

// HeuristicNames lists the heuristics without arguments.
var HeuristicNames = []string{"product", "sum", "max", "min"}

// CheckHeuristic is an error where a name is no heuristic for components.
func CheckHeuristic(name string, components []string) error {
	_, err := parseHeuristic(name, components)
	return err
}

// parseHeuristic parses "product", "sum", "max", "min", "weighted:W,W" (integers, one per component), or the
// name of a component.
func parseHeuristic(s string, components []string) (heuristic, error) {
	if slices.Contains(HeuristicNames, s) {
		return heuristic{name: s}, nil
	}
	if i := slices.Index(components, s); i >= 0 {
		return heuristic{name: "one", one: i}, nil
	}
	list, ok := strings.CutPrefix(s, "weighted:")
	if !ok {
		return heuristic{}, tagged.Errorf(ErrLimits, "found `Heuristic` %q, expected one of %s, weighted:W,W or a component (%s)", s, strings.Join(HeuristicNames, ", "), strings.Join(components, ", "))
	}
	h := heuristic{name: "weighted"}
	for _, w := range strings.Split(list, ",") {
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil || n < 0 {
			return heuristic{}, tagged.Errorf(ErrLimits, "found `Heuristic` %q, expected weights that are integers from 0 to 2^31 - 1", s)
		}
		h.weights = append(h.weights, n)
	}
	if len(h.weights) != len(components) {
		return heuristic{}, tagged.Errorf(ErrLimits, "found `Heuristic` %q, expected %d weights, one for each component in the order of their limits", s, len(components))
	}
	return h, nil
}

// of returns the number for the given sizes.
func (h *heuristic) of(sizes []int) uint64 {
	switch h.name {
	case "product":
		n := uint64(1)
		for _, s := range sizes {
			n *= uint64(s)
		}
		return n
	case "sum":
		n := uint64(0)
		for _, s := range sizes {
			n += uint64(s)
		}
		return n
	case "max":
		return uint64(slices.Max(sizes))
	case "min":
		return uint64(slices.Min(sizes))
	case "weighted":
		n := uint64(0)
		for i, s := range sizes {
			n += uint64(h.weights[i]) * uint64(s)
		}
		return n
	}
	return uint64(sizes[h.one])
}

// check checks that the heuristic of the limits, which is the largest value, fits 63 bits.
func (h *heuristic) check(limits []int) error {
	total := uint64(0)
	switch h.name {
	case "product":
		total = 1
		for _, l := range limits {
			hi, lo := bits.Mul64(total, uint64(l))
			if hi > 0 || lo > math.MaxInt64 {
				return tagged.Errorf(ErrLimits, "found limits %v, whose product is beyond 2^63; take another heuristic", limits)
			}
			total = lo
		}
	case "weighted":
		for i, l := range limits {
			if total += uint64(h.weights[i]) * uint64(l); total > math.MaxInt64 {
				return tagged.Errorf(ErrLimits, "found limits %v, whose weighted sum is beyond 2^63; take smaller weights", limits)
			}
		}
	}
	return nil
}

// String is the text that parseHeuristic parsed, except for the name of a component.
func (h *heuristic) String() string {
	if h.name == "one" {
		return fmt.Sprintf("component %d", h.one)
	}
	return h.name
}
