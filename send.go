package graphmill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/dispatch/transport"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// SendOptions say to which machines parts are sent over SFTP. Without IPConfig they are not sent.
type SendOptions struct {
	// IPConfig is a file with one machine per line, ADDRESS [PORT]; the port is DGL's. Part p goes to machine p mod n.
	IPConfig   string
	RemoteDir  string   // folder on each machine; "" is the local path of the parts
	SSHUser    string   // user on the machines; "" is the current user
	SSHPort    int      // SSH port of the machines; 0 is 22
	Identity   []string // files with private keys to log in with; nil is the keys of the SSH agent and those in ~/.ssh
	KnownHosts []string // files with the host keys of the machines; nil is ~/.ssh/known_hosts
}

// check refuses options that contradict each other, and fills in defaults.
func (o *SendOptions) check() error {
	if o.IPConfig == "" {
		if name := firstGiven(
			option{"RemoteDir", o.RemoteDir != ""}, option{"SSHUser", o.SSHUser != ""}, option{"SSHPort", o.SSHPort != 0}, option{"Identity", o.Identity != nil}, option{"KnownHosts", o.KnownHosts != nil},
		); name != "" {
			return usagef("found `%s` without `IPConfig`, expected both; give `IPConfig` FILE to send the parts", name)
		}
	}
	setDefault(&o.SSHPort, 22)
	if o.SSHPort < 1 || o.SSHPort > 65535 {
		return usagef("found `SSHPort` %d, expected 1 to 65535", o.SSHPort)
	}
	return nil
}

// ErrSent means that a run was interrupted while it sent parts. Send or Dispatch with the same options sends the rest.
var ErrSent = errors.New("the files that were sent stay on the machines, and dispatch of the same parts sends the rest")

// delivery is a set of parts and the machines that they are sent to.
type delivery struct {
	run      *Run
	dir      string
	machines []transport.Machine
	opt      transport.Options
}

// delivery reads the list of machines that the parts in dir will go to.
func (o *SendOptions) delivery(dir string, run *Run) (*delivery, error) {
	machines, err := transport.ReadIPConfig(vfs.OS, o.IPConfig)
	if err != nil {
		return nil, err
	}
	d := &delivery{run: run, dir: dir, machines: machines, opt: transport.Options{
		User: o.SSHUser, Port: o.SSHPort, Identities: o.Identity, Agent: os.Getenv("SSH_AUTH_SOCK"), KnownHosts: o.KnownHosts,
		RemoteDir: o.RemoteDir, Force: run.Overwrite}}
	if d.opt.RemoteDir == "" {
		if d.opt.RemoteDir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// ready reports an error that would prevent the delivery of the given number of parts, before they are made.
func (d *delivery) ready(ctx context.Context, parts int) error {
	if err := transport.CheckMachines(d.machines, parts); err != nil {
		return err
	}
	return transport.Check(ctx, vfs.OS, d.machines, d.opt)
}

// send sends parts to their machines, and adds the result to the report.
func (d *delivery) send(ctx context.Context, r *report.Report) error {
	start := time.Now()
	load, err := transport.Load(ctx, vfs.OS, d.dir, d.machines, d.run.Threads)
	if onlyStopped(ctx, err) {
		return ErrSent
	}
	if err != nil {
		return err
	}
	line := d.run.meter("send", load.Bytes(), "bytes")
	defer line.end()
	d.opt.Progress = line.add
	sent, err := load.Send(ctx, d.opt)
	line.end()
	if err != nil && ctx.Err() != nil { // a connection that is closed has other errors than the context's
		return ErrSent
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
	r.Out("sent to the machines", report.Bytes(written))
	r.Out("already on the machines", report.Bytes(kept))
	r.Stage("send", time.Since(start), load.Bytes(), "bytes")
	return nil
}

// Send sends existing parts, in the folder dir, to their machines. Files that are already there and equal are not sent
// again. Of the options, only Run's and Send's apply.
func Send(ctx context.Context, dir string, o DispatchOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := errors.Join(o.Run.check(), o.Send.check()); err != nil {
		return nil, err
	}
	if o.Send.IPConfig == "" {
		return nil, usagef("%s: found the parts of a graph, expected a store or chunked graph; to send the parts, give `IPConfig`", dir)
	}
	d, err := o.Send.delivery(dir, &o.Run)
	if err != nil {
		return nil, err
	}
	r := o.begin("dispatch", "Parts in "+titled(dir))
	if err := d.send(ctx, r); err != nil {
		return nil, err
	}
	r.Finish(time.Since(start))
	return r, nil
}

// rest says how to send the parts of a folder that has its name, or the files of it that are not on the machines.
func (d *delivery) rest() string {
	return fmt.Sprintf("`graphmill dispatch %s` with the same `IPConfig` sends the rest", d.dir)
}

// sendNew sends a folder of parts that was just published, and adds the delivery to its report.
func (d *delivery) sendNew(ctx context.Context, r *report.Report, start time.Time) error {
	if err := d.send(ctx, r); err != nil {
		return fmt.Errorf("not sent: %w; %s", err, d.rest())
	}
	r.Finish(time.Since(start))
	if d.run.NoReport {
		return nil
	}
	html, json, err := render(r)
	if err == nil {
		err = store.WriteReport(vfs.OS, d.dir, html, json)
	}
	if err != nil {
		return fmt.Errorf("its report does not have the delivery, which succeeded: %w", err)
	}
	return nil
}
