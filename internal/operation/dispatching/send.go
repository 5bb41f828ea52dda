package dispatching

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
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// checkSend refuses options that contradict each other, and fills in defaults.
func checkSend(o *option.Send) error {
	if err := options.Check(o, options.OfIPConfig); err != nil {
		return err
	}
	operation.SetDefault(&o.SSHPort, 22)
	if o.SSHPort < 1 || o.SSHPort > 65535 {
		return operation.Usagef("found `SSHPort` %d, expected 1 to 65535", o.SSHPort)
	}
	return nil
}

// ErrSent means that a run was interrupted while it sent parts. Send or Dispatch with the same options sends the rest.
var ErrSent = errors.New("the files that were sent stay on the machines, and dispatch of the same parts sends the rest")

// delivery is a set of parts and the machines that they are sent to.
type delivery struct {
	run      *option.Run
	dir      string
	machines []transport.Machine
	opt      transport.Options
}

// newDelivery reads the list of machines that the parts in dir will go to.
func newDelivery(o *option.Send, dir string, run *option.Run) (*delivery, error) {
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
	if operation.OnlyStopped(ctx, err) {
		return ErrSent
	}
	if err != nil {
		return err
	}
	line := operation.NewMeter(d.run, "send", load.Bytes(), "bytes")
	defer line.End()
	d.opt.Progress = line.Add
	sent, err := load.Send(ctx, d.opt)
	line.End()
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
// again. Of the options, only Run and Send apply.
func Send(ctx context.Context, dir string, o option.Dispatch) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := errors.Join(operation.CheckRun(&o.Run), checkSend(&o.Send)); err != nil {
		return nil, err
	}
	if o.Send.IPConfig == "" {
		return nil, operation.Usagef("%s: found the parts of a graph, expected a store or chunked graph; to send the parts, give `IPConfig`", dir)
	}
	d, err := newDelivery(&o.Send, dir, &o.Run)
	if err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "dispatch", "Parts in "+operation.Titled(dir))
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
	html, json, err := operation.Render(r)
	if err == nil {
		err = store.WriteReport(vfs.OS, d.dir, html, json)
	}
	if err != nil {
		return fmt.Errorf("its report does not have the delivery, which succeeded: %w", err)
	}
	return nil
}
