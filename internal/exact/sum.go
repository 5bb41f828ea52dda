package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Bins have weights of 2^32 each. The bins of a sum begin at 2^-1074, the least float64, and the bins of a sum of squares at 2^-2148.
const (
	sumBins    = (1074+1024)/32 + 4
	squareBins = 2*(1074+1024)/32 + 6
	// carryAfter is after how many numbers bins carry: each adds less than 2^32 to a bin.
	carryAfter = 1 << 30
	// sumsBlock is how many float32 are added per exponent before they go to the bins: their squares have 48 bits.
	sumsBlock = 1 << 13
)

// Sums are the exact sum of finite numbers and of their squares: they do not depend on the order of the numbers. The zero value has no numbers.
type Sums struct {
	n       uint64
	pending uint64 // numbers since the bins carried
	bins    [sumBins]int64
	squares [squareBins]int64
}

// Add adds finite numbers.
func (s *Sums) Add(values []float64) {
	for len(values) > sumsBlock {
		s.addBlock(values[:sumsBlock])
		values = values[sumsBlock:]
	}
	s.addBlock(values)
}

// addBlock adds at most sumsBlock numbers. Those that float32 has are first added up by exponent, as their mantissas and squares are short.
func (s *Sums) addBlock(values []float64) {
	var short [2048]int64
	var squares [2048]uint64
	least, greatest := uint(len(short)), uint(0)
	for _, x := range values {
		b := math.Float64bits(x)
		e := uint(b >> 52 & 0x7ff)
		if b&(1<<29-1) != 0 || e == 0 {
			if b<<1 != 0 {
				s.add(b, e)
			}
			continue
		}
		m := int64(b>>29&(1<<23-1) | 1<<23)
		squares[e] += uint64(m * m)
		sign := int64(b) >> 63
		short[e] += m ^ sign - sign
		least, greatest = min(least, e), max(greatest, e)
	}
	for e := least; e <= greatest; e++ {
		if squares[e] == 0 {
			continue
		}
		at := e - 1 + 29
		sum, sign := uint64(short[e]), int64(1)
		if short[e] < 0 {
			sum, sign = -sum, -1
		}
		i, shift := at>>5, at&31
		s.bins[i] += sign * int64(sum<<shift&math.MaxUint32)
		s.bins[i+1] += sign * int64(sum<<shift>>32)
		s.bins[i+2] += sign * int64(sum>>(64-shift))
		i, shift = 2*at>>5, 2*at&31
		s.squares[i] += int64(squares[e] << shift & math.MaxUint32)
		s.squares[i+1] += int64(squares[e] << shift >> 32)
		s.squares[i+2] += int64(squares[e] >> (64 - shift))
		s.carryAt()
	}
	s.n += uint64(len(values))
}

// add adds a number of the given bits and exponent.
func (s *Sums) add(b uint64, exponent uint) {
	mantissa := b & (1<<52 - 1)
	if exponent > 0 {
		mantissa |= 1 << 52
		exponent--
	}
	// The number is ± mantissa 2^(exponent - 1074).
	i, shift := exponent>>5, exponent&31
	high, low := mantissa>>(64-shift), mantissa<<shift
	sign := 1 - 2*int64(b>>63)
	bins := s.bins[i : i+3 : i+3]
	bins[0] += sign * int64(low&math.MaxUint32)
	bins[1] += sign * int64(low>>32)
	bins[2] += sign * int64(high)

	top, bottom := bits.Mul64(mantissa, mantissa)
	i, shift = 2*exponent>>5, 2*exponent&31
	over := top >> (64 - shift)
	top = top<<shift | bottom>>(64-shift)
	bottom <<= shift
	squares := s.squares[i : i+5 : i+5]
	squares[0] += int64(bottom & math.MaxUint32)
	squares[1] += int64(bottom >> 32)
	squares[2] += int64(top & math.MaxUint32)
	squares[3] += int64(top >> 32)
	squares[4] += int64(over)
	s.carryAt()
}

// carryAt counts an addition, and carries before a bin overflows.
func (s *Sums) carryAt() {
	if s.pending++; s.pending == carryAfter {
		s.carry()
	}
}

// Repeat adds a finite number n times.
func (s *Sums) Repeat(x float64, n uint64) {
	var one Sums
	one.Add([]float64{x})
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			s.merge(&one)
		}
		one.merge(&one)
	}
}

// merge adds the numbers of other sums.
func (s *Sums) merge(other *Sums) {
	s.carry()
	of := *other
	of.carry()
	for i, v := range of.bins {
		s.bins[i] += v
	}
	for i, v := range of.squares {
		s.squares[i] += v
	}
	s.pending = 2
	s.n += of.n
}

// carry brings all bins but the last to less than 2^32.
func (s *Sums) carry() {
	for _, bins := range [][]int64{s.bins[:], s.squares[:]} {
		for i := range len(bins) - 1 {
			over := bins[i] >> 32
			bins[i] -= over << 32
			bins[i+1] += over
		}
	}
	s.pending = 1
}

// N is the number of numbers.
func (s *Sums) N() uint64 { return s.n }

// Moments are the mean and the standard deviation of the numbers, which are not none: the root of the mean square of the distances to the mean.
// Mean and variance are exact and rounded once.
func (s *Sums) Moments() (mean, deviation float64) {
	mean, _ = ratio(ofBins(s.bins[:]), new(big.Int).SetUint64(s.n), 1074).Float64()
	variance, _ := s.variance().Float64()
	return mean, math.Sqrt(variance)
}

// Deviation is the standard deviation, also where float64 does not have the variance: of numbers beyond 1e154, or nearer to each other than 1e-162.
func (s *Sums) Deviation() float64 {
	root := new(big.Float).SetPrec(128).SetRat(s.variance())
	deviation, _ := root.Sqrt(root).Float64()
	return deviation
}

// variance is the mean square of the distances to the mean.
func (s *Sums) variance() *big.Rat {
	n := new(big.Int).SetUint64(s.n)
	sum, squares := ofBins(s.bins[:]), ofBins(s.squares[:])
	// n Σx² - (Σx)², in units of 2^-2148.
	of := new(big.Int).Mul(n, squares)
	of.Sub(of, new(big.Int).Mul(sum, sum))
	return ratio(of, new(big.Int).Mul(n, n), 2148)
}

// ofBins is the sum of bins, in units of the first one.
func ofBins(bins []int64) *big.Int {
	sum := new(big.Int)
	for i := len(bins) - 1; i >= 0; i-- {
		sum.Lsh(sum, 32)
		sum.Add(sum, big.NewInt(bins[i]))
	}
	return sum
}

// ratio is a / b 2^-exponent.
func ratio(a, b *big.Int, exponent uint) *big.Rat {
	return new(big.Rat).SetFrac(a, new(big.Int).Lsh(b, exponent))
}
