package textfiles

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Digits of every length and alignment, followed by every byte.
func TestNumber(t *testing.T) {
	text := "123456789012345678"
	for n := range 18 {
		for behind := range 256 {
			c := byte(behind)
			if c >= '0' && c <= '9' {
				continue
			}
			b := append([]byte(text[:n]), c)
			b = append(b, bytes.Repeat([]byte{'7'}, 32)...)
			v, end := number(b, 0)
			want, _ := strconv.ParseUint(text[:n], 10, 64)
			if n == 0 || n > 15 {
				if end != 0 {
					t.Fatalf("%q: read %d digits", b, end)
				}
			} else if v != want || end != n {
				t.Fatalf("%q: read %d in %d bytes", b, v, end)
			}
		}
	}
}

func TestStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := syntax{delim: rapid.SampledFrom([]byte(",\t;| ")).Draw(t, "delimiter")}
		s.runs = s.delim == ' '
		b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "text")
		set := string(rune(s.delim)) + "\"\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r"
		b = append(append(b, '\n'), make([]byte, padding)...)
		stops := stopsOf(s)
		want := 0
		for !strings.ContainsRune(set, rune(b[want])) {
			want++
		}
		if got := stops.find(b, 0); got != want {
			t.Fatalf("%q: stop at %d, want %d", b, got, want)
		}
	})
}
