// Package cli holds what the commands of graphmill have in common: the terminal that they print to, the flags of every
// command that works long, and the errors of the command line. A command parses its flags into the options of package
// graphmill, calls one function, and prints what that returns.
//
// The package imports package graphmill, internal/field, internal/human, internal/progress, internal/suggest, cobra and
// pflag.
package cli
