package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/decimal"
)

// conversion is how a stored value becomes that in Rows.Data.
type conversion uint8

const (
	convertNone    conversion = iota
	convertDays               // days to seconds
	convertInt96              // nanoseconds of a day and a Julian day, to nanoseconds
	convertDecimal            // to float64
	convertWhole              // a decimal to int64
	convertDigits             // a decimal to its digits
	convertUUID               // 16 bytes to the digits of a UUID
)

const (
	maxDecimal = 32 // bytes of a decimal of fixed size
	// julianEpoch is the Julian day of 1970-01-01.
	julianEpoch = 2440588
	dayNanos    = daySeconds * 1_000_000_000
	daySeconds  = 24 * 60 * 60
)

// read appends up to n values, and fewer where they would exceed limit bytes, but at least one. It returns their number.
func (v *values) read(r *Rows, n, limit int) (int, error) {
	if v.c.convert == convertNone {
		return v.stored(r, n, limit)
	}
	raw := &v.raw
	raw.Reset()
	n, err := v.stored(raw, n, limit)
	if err != nil {
		return n, err
	}
	size, start := v.c.size(), uint32(0)
	for i := range n {
		var b []byte
		if v.c.phys == physBytes {
			b = raw.Data[start:raw.Ends[i]]
			start = raw.Ends[i]
		} else {
			b = raw.Data[i*size : (i+1)*size]
		}
		if v.c.convert == convertUUID {
			r.Data = appendUUID(r.Data, b)
			r.Ends = append(r.Ends, uint32(len(r.Data)))
			continue
		}
		if v.c.convert == convertDigits {
			digits, err := v.c.bigEndian(b)
			if err != nil {
				return i, err
			}
			r.Data = decimal.Digits(r.Data, digits)
			r.Ends = append(r.Ends, uint32(len(r.Data)))
			continue
		}
		x, err := v.c.converted(b)
		if err != nil {
			return i, err
		}
		r.Data = binary.LittleEndian.AppendUint64(r.Data, x)
	}
	return n, nil
}

// appendUUID appends 16 bytes in the canonical form: 00112233-4455-6677-8899-aabbccddeeff.
func appendUUID(text, b []byte) []byte {
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return text
}

// converted returns the bits of a converted value.
func (c *Column) converted(b []byte) (uint64, error) {
	le := binary.LittleEndian
	switch c.convert {
	case convertDays:
		return uint64(int64(int32(le.Uint32(b))) * daySeconds), nil
	case convertInt96:
		nanos, day := int64(le.Uint64(b)), int64(le.Uint32(b[8:]))-julianEpoch
		// Both products lie within int64 for the years that nanoseconds can express.
		if day < math.MinInt64/dayNanos || day > math.MaxInt64/dayNanos-1 || nanos < 0 || nanos >= dayNanos {
			return 0, unsupportedf("found the time %d days and %d ns after 1970, expected one between 1677 and 2262, as int64 has nanoseconds", day, nanos)
		}
		return uint64(day*dayNanos + nanos), nil
	}
	digits, err := c.bigEndian(b)
	if err != nil {
		return 0, err
	}
	if c.convert == convertDecimal {
		return math.Float64bits(decimal.Float64(digits, c.scale)), nil
	}
	x, ok := decimal.Int64(digits)
	if !ok {
		return 0, corruptf("found a decimal of more than 18 digits, expected fewer as the schema says; the file is damaged")
	}
	return uint64(x), nil
}

// bigEndian reverses the bytes of a decimal that is stored as an integer, in place.
func (c *Column) bigEndian(b []byte) ([]byte, error) {
	if len(b) > maxDecimal {
		return nil, unsupportedf("found a decimal of %d bytes, expected at most %d", len(b), maxDecimal)
	}
	if c.phys == physInt32 || c.phys == physInt64 {
		slices.Reverse(b)
	}
	return b, nil
}
