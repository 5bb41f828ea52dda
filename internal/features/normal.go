package features

import "math"

// Coefficients of the rational functions of algorithm AS 241 (Wichura 1988, Applied Statistics 37), from the highest power: of the middle, and of
// the tails down to a rank of e^-25.
var (
	middleAbove = [...]float64{2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080}
	middleBelow = [...]float64{5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867, 5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1}
	tailAbove   = [...]float64{7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734}
	tailBelow   = [...]float64{1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1}
)

// normalQuantile is the number below which a share p of a normal distribution with mean 0 and deviation 1 lies, for p from e^-25 to 1 - e^-25.
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(polynomial(&middleAbove, r)*q) / polynomial(&middleBelow, r)
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	r = math.Sqrt(-math.Log(r)) - 1.6
	return math.Copysign(polynomial(&tailAbove, r)/polynomial(&tailBelow, r), q)
}

// polynomial is a polynomial at x. The conversions keep processors with a fused multiply-add from other bits than those without.
func polynomial(c *[8]float64, x float64) float64 {
	y := float64(c[0]*x) + c[1]
	y = float64(y*x) + c[2]
	y = float64(y*x) + c[3]
	y = float64(y*x) + c[4]
	y = float64(y*x) + c[5]
	y = float64(y*x) + c[6]
	return float64(y*x) + c[7]
}
