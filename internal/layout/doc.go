// Package layout places the nodes of a small graph in a plane.
//
//   - Radial puts seeds in the middle and the nodes of each hop on a ring around them, each in the sector of the node that it was found from.
//   - Forces lets edges pull and nodes push each other, for a fixed number of steps from a fixed start.
//
// Places are in tenths of a unit. The same input gives the same places on every machine: each product is rounded before it is added to, as a processor may
// otherwise add it unrounded, and sines are computed here.
package layout
