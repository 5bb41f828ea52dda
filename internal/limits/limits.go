// Package limits holds the largest sizes that numbers of 32 bits allow. They are variables so that a test reaches them
// with a small graph. Nothing else changes them.
//
// It imports only the standard library.
package limits

import "math"

// Neighbours is the most neighbours that a graph in memory can list, two for each pair, because their places are
// numbers of 32 bits.
var Neighbours int64 = math.MaxUint32
