package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Usagef makes an error about the command line.
func Usagef(format string, a ...any) error { return tagged.Errorf(graphmill.ErrUsage, format, a...) }

// IsUsage reports whether an error is about the command line, or about options that the command line set.
func IsUsage(err error) bool { return errors.Is(err, graphmill.ErrUsage) }

var (
	// ErrDamage ends a command that found damage and printed it.
	ErrDamage = errors.New("damage found")
	// ErrTold ends a command that failed and already printed the reason.
	ErrTold = errors.New("faults found")
)

// OneArg returns the check of a command with one argument, which what describes.
func OneArg(what string) cobra.PositionalArgs { return nArgs(1, what) }

// TwoArgs returns the check of a command with two arguments, which what describes.
func TwoArgs(what string) cobra.PositionalArgs { return nArgs(2, what) }

// Args returns the check of a command with n arguments, which what describes.
func Args(n int, what string) cobra.PositionalArgs { return nArgs(n, what) }

func nArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("found %d arguments, expected %s", len(args), what)
		}
		return nil
	}
}

// NoArgs checks a command without arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("found argument %q, expected none", args[0])
	}
	return nil
}
