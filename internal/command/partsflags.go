package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// addPartsFlags adds the flags of the commands that write and send parts.
func addPartsFlags(cmd *cobra.Command, c *CommonFlags, o *option.DGLParts) {
	o.NumHops = 1
	c.Bind(cmd, options.Parts, o, &o.Send)
}

// applyHops turns --num-hops 0 into NoHops, because 0 in the options is the default.
func applyHops(o *option.DGLParts) error {
	switch {
	case o.NumHops < 0:
		return cli.Usagef("found --num-hops %d, expected 0 to 8", o.NumHops)
	case o.NumHops == 0:
		o.NumHops = option.NoHops
	}
	return nil
}
