// Package command has the commands of graphmill, a file per command: its flags, the call of the library, and what is printed of the result. The
// programs graphmill-beam and graphmill-flight share some of them, and flags. Flags of several commands are in files of their own, *flags.go.
package command
