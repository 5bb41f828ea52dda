// Package bench has the command bench of graphmill, which measures the machine.
package bench
