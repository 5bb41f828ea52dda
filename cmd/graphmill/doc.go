// Command graphmill turns raw graph tables into training-ready batches.
//
// Package command has its commands. Rules that all of them keep:
//
//   - stdout is for data: the result in words, or with --json one JSON report.
//     Messages, progress and errors go to stderr; with --json an error is also
//     an object on stdout.
//   - progress and colours are for terminals only; NO_COLOR is respected.
//   - an error says what was found, what was expected and what to do.
//   - help shows examples first, and fits a page; --help-all has all flags.
//   - the exit status is 0 done, 1 failed, 2 wrong usage, 3 verification found
//     damage, 130 interrupted.
//   - hyphens and underscores in flag names are the same.
package main
