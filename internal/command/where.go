package command

import "github.com/spf13/pflag"

// Where is where a command runs if not in its own process: flags that say more about it, and a function that sets the options from
// them once they are parsed.
type Where[Options any] struct {
	Add func(fs *pflag.FlagSet)
	Set func(o *Options) error
	// Long and Example replace the texts of the command.
	Long, Example string
}
