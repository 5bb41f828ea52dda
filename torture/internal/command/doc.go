// Package command builds the programs of the product and runs them.
//
//	graphmill := command.Build(t, "graphmill")
//	r := command.Call{Program: graphmill, Args: []string{"info", "g.store"}, Dir: dir}.Run(t)
//	if r.Status != 0 { t.Errorf("%s", r) }
//
// A program is built once per test process, from the source as it is, into a folder of the user's cache that belongs to this copy of
// the repository. Test processes that run at the same time wait for each other.
//
// The package runs on Linux.
package command
