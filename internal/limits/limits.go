// Package limits holds sizes at which numbers of 32 bits end. They are variables so that a test
// reaches them with a small graph; nothing else changes them.
package limits

import "math"

// Neighbours is the most neighbours that a graph in memory can list, two for each pair: their
// places are numbers of 32 bits.
var Neighbours int64 = math.MaxUint32
