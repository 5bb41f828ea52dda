// Package cli holds the code that the commands of graphmill share: the terminal that they print to, common flags, the help
// and the manual pages, completions, and the errors of the command line. A command parses its flags into the options of
// package graphmill, calls one function, and prints its result.
package cli
