package features

import (
	"encoding/binary"
	"math/bits"
	"unicode"
)

// murmur3 is MurmurHash3 x86 32 with the seed 0.
func murmur3(data []byte) int32 {
	h, n := uint32(0), uint32(len(data))
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
	for ; len(data) >= 4; data = data[4:] {
		h = bits.RotateLeft32(h^mix(binary.LittleEndian.Uint32(data)), 13)*5 + 0xe6546b64
	}
	if len(data) > 0 {
		var tail [4]byte
		copy(tail[:], data)
		h ^= mix(binary.LittleEndian.Uint32(tail[:]))
	}
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return int32(h ^ h>>16)
}

// Hash makes numbers of texts: a position per hash of a word or of a run of characters.
type Hash struct {
	Dim        int  `json:"dim"`
	Characters bool `json:"characters,omitempty"` // runs of characters, in place of words
	Least      int  `json:"least"`                // words or characters of a run
	Most       int  `json:"most"`
	Unsigned   bool `json:"unsigned,omitempty"` // all runs count 1; else half of them -1
}

// apply adds the runs of a text to out, which has Dim numbers.
func (h *Hash) apply(text []byte, out []float64) {
	var units []string
	between := ""
	if h.Characters {
		units = characters(text)
	} else {
		units, between = words(text), " "
	}
	var run []byte
	for n := h.Least; n <= h.Most; n++ {
		for i := range len(units) - n + 1 {
			run = run[:0]
			for j, u := range units[i : i+n] {
				if j > 0 {
					run = append(run, between...)
				}
				run = append(run, u...)
			}
			m := int64(murmur3(run))
			by := 1.0
			if m < 0 {
				if m = -m; !h.Unsigned {
					by = -1
				}
			}
			out[m%int64(h.Dim)] += by
		}
	}
}

// words are runs of two or more letters, digits and underscores, in lower case by Unicode's simple mapping.
func words(text []byte) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 1 {
			out = append(out, string(word))
		}
		word = word[:0]
	}
	for _, r := range string(text) {
		if r = unicode.ToLower(r); unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' {
			word = append(word, r)
			continue
		}
		end()
	}
	end()
	return out
}

// characters are the characters of a text in lower case; several blanks are one.
func characters(text []byte) []string {
	var out []string
	blanks := 0
	for _, r := range string(text) {
		if unicode.IsSpace(r) {
			if blanks++; blanks > 1 {
				out[len(out)-1] = " "
				continue
			}
		} else {
			blanks = 0
		}
		out = append(out, string(unicode.ToLower(r)))
	}
	return out
}
