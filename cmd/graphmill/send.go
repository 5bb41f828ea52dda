package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/dispatch/transport"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sendFlags are the flags that bring parts to their machines.
type sendFlags struct {
	ipConfig   string
	remoteDir  string
	user       string
	port       int
	identities []string
	knownHosts []string
}

func (f *sendFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.ipConfig, "ip-config", "", "file with a machine a line, ADDRESS [PORT of DGL]: send part p to machine p mod n, over SFTP")
	fs.StringVar(&f.remoteDir, "remote-dir", "", "folder on each machine (default: the path of the parts here)")
	fs.StringVar(&f.user, "ssh-user", "", "user on the machines (default: yours)")
	fs.IntVar(&f.port, "ssh-port", 22, "port of SSH on the machines")
	fs.StringArrayVar(&f.identities, "identity", nil, "private key to log in with, may be repeated (default: the agent's, and those in ~/.ssh)")
	fs.StringArrayVar(&f.knownHosts, "known-hosts", nil, "file with the keys of the machines, may be repeated (default: ~/.ssh/known_hosts)")
}

func (f *sendFlags) check(cmd *cobra.Command) error {
	if f.ipConfig == "" {
		for _, name := range []string{"remote-dir", "ssh-user", "ssh-port", "identity", "known-hosts"} {
			if cmd.Flags().Changed(name) {
				return usagef("found --%s without --ip-config, expected both; give --ip-config FILE to send the parts", name)
			}
		}
		return nil
	}
	if f.port < 1 || f.port > 65535 {
		return usagef("found --ssh-port %d, expected 1 to 65535", f.port)
	}
	return nil
}

// delivery is what is sent where.
type delivery struct {
	dir      string
	machines []transport.Machine
	opt      transport.Options
	threads  int
}

// delivery reads the list of machines that the parts in dir will go to.
func (f *sendFlags) delivery(dir string, force bool, c common) (*delivery, error) {
	machines, err := transport.ReadIPConfig(vfs.OS, f.ipConfig)
	if err != nil {
		return nil, err
	}
	s := &delivery{dir: dir, machines: machines, opt: transport.Options{
		User: f.user, Port: f.port, Identities: f.identities, Agent: os.Getenv("SSH_AUTH_SOCK"), KnownHosts: f.knownHosts,
		RemoteDir: f.remoteDir, Force: force}, threads: c.threads}
	if s.opt.RemoteDir == "" {
		if s.opt.RemoteDir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ready finds what would stop a delivery of so many parts, before they are made.
func (d *delivery) ready(ctx context.Context, parts int) error {
	if err := transport.CheckMachines(d.machines, parts); err != nil {
		return err
	}
	return transport.Check(ctx, vfs.OS, d.machines, d.opt)
}

// errSent ends a command that was interrupted with parts on the way.
var errSent = errors.New("what was sent stays on the machines, and dispatch of the same parts sends the rest")

// send brings parts to their machines and reports it.
func (t *terminal) send(ctx context.Context, s *delivery, r *report.Report) error {
	start := time.Now()
	load, err := transport.Load(ctx, vfs.OS, s.dir, s.machines, s.threads)
	if err != nil {
		return err
	}
	line := t.progress("send", load.Bytes(), "bytes")
	defer line.Done()
	s.opt.Progress = line.Add
	sent, err := load.Send(ctx, s.opt)
	line.Done()
	if ctx.Err() != nil {
		return errSent
	}
	if err != nil {
		return err
	}
	table := report.Table{Title: "Machines", Columns: []string{"machine", "parts", "files", "written", "there already", "connections"}}
	var written, kept int64
	for _, m := range sent.Machines {
		written, kept = written+m.Bytes, kept+m.Kept
		table.Rows = append(table.Rows, []report.Value{report.Text(m.Host), report.Text(strings.Trim(fmt.Sprint(m.Parts), "[]")), report.Count(m.Files, ""),
			report.Bytes(m.Bytes), report.Bytes(m.Kept), report.Count(m.Connections, "")})
	}
	r.Table(table)
	r.Out("machines", report.Count(len(sent.Machines), ""))
	r.Out("sent to them", report.Bytes(written))
	r.Out("there already", report.Bytes(kept))
	r.Stage("send", time.Since(start), load.Bytes(), "bytes")
	return nil
}

// sendParts is dispatch of a folder whose parts are made.
func (t *terminal) sendParts(ctx context.Context, s *delivery, c common) error {
	start := time.Now()
	r := t.begin("dispatch", "Parts in "+filepath.Base(filepath.Clean(s.dir)), c)
	if err := t.send(ctx, s, r); err != nil {
		return err
	}
	r.Finish(time.Since(start))
	return t.finish(r, c)
}

// publishAndSend gives a sealed folder of parts its name and sends them.
func (t *terminal) publishAndSend(ctx context.Context, w sealer, s *delivery, r *report.Report, c common, start time.Time) error {
	report := func(write func(html, json []byte) error) error {
		r.Finish(time.Since(start))
		html, json, err := render(r)
		if err != nil {
			return err
		}
		return write(html, json)
	}
	if err := errors.Join(report(w.Report), w.Publish()); err != nil {
		return err
	}
	if err := t.send(ctx, s, r); err != nil {
		return fmt.Errorf("%w; the parts are whole in %s: `graphmill dispatch %s` with the same --ip-config sends what is missing", err, s.dir, s.dir)
	}
	if err := report(func(html, json []byte) error { return store.WriteReport(vfs.OS, s.dir, html, json) }); err != nil {
		return err
	}
	return t.finish(r, c)
}
