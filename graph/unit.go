package graph

import "fmt"

// Unit is the unit of a column of times: the number in a row counts these units since 1970-01-01T00:00:00Z, without
// leap seconds. Columns that are no times have the empty Unit.
type Unit string

// The units of times.
const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
)

// PerSecond is the number of units in a second.
func (u Unit) PerSecond() int64 {
	switch u {
	case Milliseconds:
		return 1e3
	case Microseconds:
		return 1e6
	case Nanoseconds:
		return 1e9
	}
	return 1
}

// ParseUnit reads "s", "ms", "us" or "ns".
func ParseUnit(s string) (Unit, error) {
	switch u := Unit(s); u {
	case Seconds, Milliseconds, Microseconds, Nanoseconds:
		return u, nil
	}
	return "", fmt.Errorf("found unit of time %q, expected s, ms, us or ns", s)
}
