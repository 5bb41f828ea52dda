package undirected

import "math/bits"

const (
	// exactDegrees have a class each; half as many classes share each larger power of two.
	exactDegrees = 1 << 12
	// DegreeClasses is the number of classes of degrees.
	DegreeClasses = 21 * exactDegrees / 2
)

// DegreeClass is the class of a degree, larger for larger degrees: below 4096 each degree has its own.
func DegreeClass(degree uint32) int {
	if degree < exactDegrees {
		return int(degree)
	}
	shift := bits.Len32(degree) - bits.Len32(exactDegrees-1)
	return shift*exactDegrees/2 + int(degree>>shift)
}
