// Package progress shows the progress of long work on a terminal: one line on stderr with a bar, the rate and the time
// left. The line is removed when the work is done.
//
// Start returns nil where w is not a terminal, or a dumb one. A nil *Line does nothing, so a library takes a *Line
// without checks. Add is one atomic addition; call it once per block of rows, not once per row. Done returns when the
// line is cleared and its goroutine has ended.
//
// A terminal shows one line at a time. Other output during the work would follow the line, so messages must wait until
// Done. The less important parts are dim where the caller wants colours.
//
// Work may be a stage of a run. A Whole is then told what share of the run is done. The line of each stage shows this share and the
// time that the run has left.
package progress
