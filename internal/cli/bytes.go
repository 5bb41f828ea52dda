package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is the value of a flag: a number of bytes, with an optional unit such as GiB or MB.
type Bytes int64

var byteUnits = []struct {
	suffix string
	factor float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1},
}

// Set parses a number with an optional unit.
func (b *Bytes) Set(s string) error {
	text, factor := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			text, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n*factor < 0 || n*factor > 1<<60 {
		return fmt.Errorf("found %q, expected bytes such as 2GiB or 500MB", s)
	}
	*b = Bytes(n * factor)
	return nil
}

// String returns the number of bytes, or "" for 0.
func (b *Bytes) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type returns the name of the value in the help.
func (b *Bytes) Type() string { return "BYTES" }
