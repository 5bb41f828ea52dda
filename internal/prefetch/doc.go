// Package prefetch asks for cache lines ahead of their use. Its loops change no
// memory and cannot fault, whatever the places. A far line takes ten times as long to
// come as a loop's turn, and the processor alone looks ahead only a few turns.
//
// It imports nothing.
package prefetch
