package cli

import (
	"strconv"

	"github.com/graphmill/graphmill/internal/human"
)

// Bytes is the value of a flag: a number of bytes, with an optional unit such as GiB or MB.
type Bytes int64

// Set parses a number with an optional unit.
func (b *Bytes) Set(s string) error {
	n, err := human.ParseBytes(s)
	if err == nil {
		*b = Bytes(n)
	}
	return err
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
