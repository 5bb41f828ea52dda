// Package packing puts small graphs into packs: it searches for packings and for limits, assigns graphs to packs, writes packs, and packs
// streams of graphs.
package packing
