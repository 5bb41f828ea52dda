// Package options has one table of the options: for each field of package option that a command takes its flag, with the help, default, choices
// and kind of value; what the option needs; and whether it may change when a run resumes. Flags, completions, help, the names of fields in
// errors, and refusals of options that have no meaning together follow from it.
//
// The library writes the names of fields in backquotes: "found `Memory` 1.0 MiB, expected at least 24 MiB". Flags replaces them by flags, and
// Keywords by keywords of Python.
package options

//go:generate go test -run TestPython -update .
