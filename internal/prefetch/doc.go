// Package prefetch loads cache lines before they are used. Its loops change no memory and cannot fault, for any places.
// A line from memory takes ten times as long as a turn of a loop, and the processor alone looks only a few turns ahead.
package prefetch
