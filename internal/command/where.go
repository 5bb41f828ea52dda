package command

import "github.com/spf13/pflag"

// Where is where a command runs if not in its own process: flags that say more about it, and a function that makes the cluster from
// them once they are parsed.
type Where[Cluster any] struct {
	Add     func(fs *pflag.FlagSet)
	Cluster func() (*Cluster, error)
	// Long and Example replace the texts of the command.
	Long, Example string
}

// cluster is the cluster on which a command runs, nil for its own process.
func (w *Where[Cluster]) cluster() (*Cluster, error) {
	if w == nil {
		return nil, nil
	}
	return w.Cluster()
}
