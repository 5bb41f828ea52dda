// Package pack has the command pack of graphmill with its subcommands fill, materialise, hist, tables and tune.
package pack
