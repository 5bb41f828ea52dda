// Package report shows what a command did: its inputs and outputs, how degrees and subgraph sizes are distributed,
// where the time went, and which rows were dropped. A command fills a Report. The package writes it as a page (HTML),
// as numbers (JSON), and as a few lines for the terminal (Text).
//
// Results of operations that are more than a Report, such as Division and Packing, are structs of their own: their JSON is what the
// command prints with --json, and Text writes them in words.
//
// # Contract
//
//   - JSON holds everything that the page shows, including the buckets of histograms. A Report that is read back from
//     its JSON gives the same page, byte for byte.
//   - The same Report gives the same bytes. The package adds no time, host or order of its own. Only the last digit
//     of a coordinate in a drawing may differ between kinds of processor.
//   - The page is one file with inline SVG. It has no font, and it requests nothing. A script adds a search box to
//     tables of more than 20 rows; a page without one has no script, and without scripts all rows show. It follows light
//     and dark mode, and its colours differ for colour-blind readers.
//   - Names (types, files, columns) may be hostile. They are escaped everywhere, and characters that control a
//     terminal or the direction of text are shown as escapes. JSON keeps names as they are, except that bytes that
//     are not UTF-8 become U+FFFD; Line quotes such bytes for a shell instead.
//   - Any bytes can be read as a report: they give an error, or a Report that HTML, JSON and Text accept. Reading
//     allocates memory in proportion to its input.
//
// One goroutine fills a Report, and one goroutine fills a Histogram; merge the histograms of several goroutines.
//
// Package store writes report.json and report.html next to the manifest of an output folder. The manifest does not
// list them.
package report
