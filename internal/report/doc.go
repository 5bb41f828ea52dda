// Package report says what a command did: what came in, what went out, how the
// degrees and subgraph sizes are spread, where the time went, and what was
// dropped. A command fills a Report; it comes out as a page (HTML), as numbers
// (JSON), and as a few lines on the terminal (Text).
//
// # Contract
//
//   - One source: JSON holds all that the page shows, histogram buckets included,
//     so FromJSON(r.JSON()).HTML() is the page, byte for byte.
//   - The same Report gives the same bytes. The package adds no time, host or
//     order of its own. (Drawings alone may differ between kinds of processor,
//     in the fifth digit of a coordinate.)
//   - The page is one file: inline SVG drawn with gonum/plot, no script, no
//     font, no request to anywhere. It follows light and dark mode.
//   - Names (types, files, columns) are hostile: they are escaped everywhere,
//     and characters that steer a terminal or the direction of text are shown as
//     escapes. JSON keeps them as they are; bytes that are no UTF-8 become
//     U+FFFD, except in Line, which quotes them for a shell.
//   - FromJSON takes any bytes: it gives an error or a Report that HTML, JSON
//     and Text accept. It allocates in proportion to its input.
//
// A Report is filled by one goroutine. A Histogram is counted by one goroutine;
// merge those of many.
//
// Package store writes report.json and report.html beside the manifest of an
// output folder, outside it; Read serves "graphmill report DIR".
//
// The package imports internal packages only, so every stage may import it.
package report
