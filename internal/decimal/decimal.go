// Package decimal converts the decimal numbers of columnar files. It imports the standard library.
package decimal

import (
	"math"
	"math/big"
	"strconv"
)

// Float64 returns the number nearest to v / 10^scale, where v is a big-endian integer in two's complement. A number
// beyond the range of float64 is infinite.
func Float64(v []byte, scale int) float64 {
	if n, ok := Int64(v); ok && n > -1<<53 && n < 1<<53 && scale >= 0 && scale < len(tens) {
		return float64(n) / tens[scale] // both are exact, so that there is one rounding
	}
	i := integer(v)
	scale = max(min(scale, maxScale), -maxScale)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	r := new(big.Rat)
	if scale >= 0 {
		r.SetFrac(i, power)
	} else {
		r.SetInt(i.Mul(i, power))
	}
	f, _ := r.Float64()
	return f
}

// Digits appends the decimal digits of a big-endian integer in two's complement.
func Digits(b, v []byte) []byte {
	if n, ok := Int64(v); ok {
		return strconv.AppendInt(b, n, 10)
	}
	return integer(v).Append(b, 10)
}

// integer is a big-endian integer in two's complement.
func integer(v []byte) *big.Int {
	i := new(big.Int).SetBytes(v)
	if len(v) > 0 && v[0]&0x80 != 0 {
		i.Sub(i, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	return i
}

// maxScale bounds the work for a scale. 10^400 is beyond the range of float64 even for values of 32 bytes.
const maxScale = 400

// Int64 returns a big-endian integer in two's complement, and whether it fits.
func Int64(v []byte) (int64, bool) {
	if len(v) == 0 {
		return 0, true
	}
	n := int64(int8(v[0]))
	for _, b := range v[1:] {
		if n > math.MaxInt64>>8 || n < math.MinInt64>>8 {
			return 0, false
		}
		n = n<<8 | int64(b)
	}
	return n, true
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
