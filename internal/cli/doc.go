// Package cli is the terminal of the commands: what they print, progress, the help and the manual pages, completions, what a flag declares
// for them, and the errors of the command line.
package cli
