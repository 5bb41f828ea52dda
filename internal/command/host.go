package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/operation/serving"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/secret"
)

// hostFlags has the flags of host.
type hostFlags struct {
	CommonFlags
	secrets SecretFlags
	hosting serving.Hosting
	part    string
}

// NewHost makes the command host.
func NewHost(t *cli.Terminal) *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:   "host STORE --part I/N",
		Short: "Draw edges and read rows of a range of nodes, for loaders on other machines",
		Long: `Hosts one of N ranges of the nodes of a store. Start one host for each range, on as many
machines; loaders with the addresses of all of them (NodeLoader(..., hosts=[...])) get the
batches that they would get from the whole store, and read no edges and columns themselves.
A host that ends can be started again: loaders wait for it. The plan of a loader comes with
its connection, so hosts serve any number of trainings.

An address that other machines can reach requires TLS, and a token. When loaders can connect,
the command prints one line of JSON, {"addr":"HOST:PORT"}. SIGINT, SIGTERM and SIGHUP end it.`,
		Example: `  graphmill host g.store --part 0/2 --listen 127.0.0.1:8816
  graphmill host g.store --part 1/2 --listen 127.0.0.1:8817
  graphmill host g.store --part 0/2 --listen 0.0.0.0:8816 --tls-cert cert.pem --tls-key key.pem --token-file token`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			h := &f.hosting
			h.Secrets, h.Threads, h.Warn, h.Say = f.secrets.Files, f.Threads, t.Warn, func(line string) { t.Say("%s", line) }
			h.Ready = func(address, http string) error {
				ready := map[string]string{"addr": address}
				if http != "" {
					ready["http"] = http
				}
				line, err := json.Marshal(ready)
				if err == nil {
					_, err = fmt.Fprintf(t.Stdout, "%s\n", line)
				}
				return err
			}
			err := h.Serve(cmd.Context(), args[0])
			if errors.Is(err, secret.ErrExposed) {
				return Exposed(h.Listen)
			}
			return err
		},
	}
	f.CommonFlags.AddThreads(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.part, "part", "", "I/N: which of how many ranges of nodes this host has, counted from 0 (required)")
	fs.StringVar(&f.hosting.Listen, "listen", "127.0.0.1:0", "HOST:PORT to listen on; port 0 chooses a free port")
	fs.IntVar(&f.hosting.Connections, "connections", 4096, "most connections at a time; a loader has two for each of its threads")
	f.secrets.Add(fs)
	f.Bind(cmd, options.Watching, &f.hosting)
	cli.Named(fs, "I/N", "part")
	cli.Named(fs, "HOST:PORT", "listen")
	cli.Group(fs, options.GroupServe, "*part", "*listen", "connections")
	return cmd
}

// check refuses values that no host takes.
func (f *hostFlags) check() error {
	if err := f.Check(); err != nil {
		return err
	}
	if err := f.secrets.Check(); err != nil {
		return err
	}
	h := &f.hosting
	i, n, _ := strings.Cut(f.part, "/")
	var errPart, errParts error
	h.Part, errPart = strconv.Atoi(i)
	h.Parts, errParts = strconv.Atoi(n)
	switch {
	case errPart != nil || errParts != nil || h.Parts < 1 || h.Parts > host.MostHosts || h.Part < 0 || h.Part >= h.Parts:
		return cli.Usagef("found --part %q, expected I/N, such as 0/4 for the first of four ranges, and at most %d of them", f.part, host.MostHosts)
	case h.Connections < 1 || h.Connections > 1<<16:
		return cli.Usagef("found --connections %d, expected 1 to %d", h.Connections, 1<<16)
	}
	return nil
}
