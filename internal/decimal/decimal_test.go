package decimal

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// twos returns a number as n big-endian bytes in two's complement.
func twos(v *big.Int, n int) []byte {
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return v.FillBytes(make([]byte, n))
}

// The number is the nearest float64 to the exact quotient, and the integer is the number where it fits.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 32).Draw(t, "bytes")
		b := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "b")
		if rapid.Bool().Draw(t, "small") { // as most decimals are
			for i := range b[:n-1] {
				b[i] = byte(int8(b[n-1]) >> 7)
			}
		}
		v := new(big.Int).SetBytes(b)
		if b[0]&0x80 != 0 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
		}
		if got := twos(v, n); string(got) != string(b) {
			t.Fatalf("found %x, expected %x", got, b)
		}
		scale := rapid.IntRange(-30, 90).Draw(t, "scale")
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
		exact := new(big.Rat).SetInt(v)
		if scale >= 0 {
			exact.Quo(exact, power)
		} else {
			exact.Mul(exact, power)
		}
		want, _ := exact.Float64()
		if got := Float64(b, scale); got != want {
			t.Fatalf("found %v, expected %v", got, want)
		}
		if digits := Digits(nil, b); string(digits) != v.String() {
			t.Fatalf("found the digits %s, expected %v", digits, v)
		}
		got, ok := Int64(b)
		if ok != v.IsInt64() || ok && got != v.Int64() {
			t.Fatalf("found %d, %v, expected %v", got, ok, v)
		}
	})
}

func TestScales(t *testing.T) {
	for scale, want := range map[int]float64{math.MaxInt32: 0, math.MinInt32: math.Inf(1), 0: 7, -2: 700, 1: 0.7} {
		if got := Float64([]byte{7}, scale); got != want {
			t.Errorf("scale %d: found %v, expected %v", scale, got, want)
		}
	}
	if v, ok := Int64(nil); v != 0 || !ok {
		t.Errorf("found %d, %v, expected 0", v, ok)
	}
}
