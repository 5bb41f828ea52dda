package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// addPartsFlags adds the flags of the commands that write and send parts.
func addPartsFlags(cmd *cobra.Command, o *option.DGLParts) {
	f := cmd.Flags()
	f.StringVar(&o.GraphName, "graph-name", "", "name of the graph and of its configuration file (default: name of the input)")
	f.IntVar(&o.NumHops, "num-hops", 1, "number of hops that the halo of a part reaches, 0 to 8; both 0 and 1 keep the in-edges of its own nodes")
	f.StringVar(&o.GraphFormats, "graph-formats", "", "sparse formats in which a part is stored, separated by commas: coo, csc, csr")
	f.BoolVar(&o.SaveOrigNids, "save-orig-nids", false, "write the original node ids: part<p>/orig_nids.dgl")
	f.BoolVar(&o.SaveOrigEids, "save-orig-eids", false, "write the original edge ids: part<p>/orig_eids.dgl")
	f.IntVar(&o.PartsAtOnce, "parts-at-once", 0, "most parts to make at a time (default: as many as fit --memory; with --resume at most a quarter of the parts)")
	f.BoolVar(&o.Resume, "resume", false, "keep the finished parts if the run is interrupted, and continue an earlier run that was interrupted")
	s := &o.Send
	f.StringVar(&s.IPConfig, "ip-config", "", "file with one machine per line, ADDRESS [PORT] (the port is DGL's): send part p to machine p mod n over SFTP")
	f.StringVar(&s.RemoteDir, "remote-dir", "", "folder on each machine (default: the local path of the parts)")
	f.StringVar(&s.SSHUser, "ssh-user", "", "user on the machines (default: the current user)")
	f.IntVar(&s.SSHPort, "ssh-port", 0, "SSH port of the machines")
	f.StringArrayVar(&s.Identity, "identity", nil, "file with a private key to log in with; may be repeated (default: keys of the SSH agent and in ~/.ssh)")
	f.StringArrayVar(&s.KnownHosts, "known-hosts", nil, "file with host keys of the machines; may be repeated (default: ~/.ssh/known_hosts)")
	cli.Defaults(f, map[string]string{"graph-formats": "coo,csc", "ssh-port": "22"})
	cli.Files(f, "ip-config", "identity", "known-hosts")
	cli.Folders(f, "remote-dir")
	cli.Named(f, "FORMATS", "graph-formats")
	cli.Named(f, "NAME", "graph-name", "ssh-user")
	cli.Group(f, cli.GroupParts, "*num-hops", "*graph-formats", "graph-name", "*save-orig-nids", "*save-orig-eids")
	cli.Group(f, cli.GroupRun, "*resume", "parts-at-once")
	cli.Group(f, cli.GroupSend, "*ip-config", "*remote-dir", "ssh-user", "ssh-port", "identity", "known-hosts")
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
