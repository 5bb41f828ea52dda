package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// machine starts a machine, and returns the flags that send parts to its folder /parts.
func machine(t *testing.T) (m *sftptest.Server, flags string) {
	t.Helper()
	t.Setenv("SSH_AUTH_SOCK", "")
	m = sftptest.Serve(t)
	if err := os.WriteFile("ip.txt", []byte("127.0.0.1 30050\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return m, fmt.Sprintf(" --ip-config ip.txt --remote-dir /parts --ssh-user mill --ssh-port %d --identity %s --known-hosts %s", m.Port, m.Identity, m.KnownHosts)
}

// delivered says whether the machine has parts that verify.
func delivered(t *testing.T, m *sftptest.Server) bool {
	t.Helper()
	v, err := store.Verify(t.Context(), vfs.OS, filepath.Join(m.Root, "parts"), 1, nil)
	return err == nil && len(v.Damage) == 0
}

// deliveries are the commands that send parts to machines after they gave them their name, without the flags of the delivery.
var deliveries = []string{"dispatch g.store --assignment cut --out out", "dispatch g.store --parts 2 --resume --out out", "partition-graph g.store --parts 2 --out out"}

// TestDelivery sends parts to a machine on which the delivery fails, or while which the run is interrupted: the parts are whole
// here, the words and the exit status say so, and the command that they name sends the rest.
func TestDelivery(t *testing.T) {
	endInputs(t)
	for _, line := range deliveries {
		for _, c := range []struct {
			name   string
			tell   func(m *sftptest.Server, stop func())
			status int
			says   string
		}{
			{"full disk", func(m *sftptest.Server, _ func()) { m.Full.Store(3000) }, exitFailed, "not sent: machine 127.0.0.1, part 0, part0/"},
			{"no disk", func(m *sftptest.Server, _ func()) { m.Free.Store(10) }, exitFailed, "not sent: machine 127.0.0.1, parts 0, 1: "},
			{"other bytes", func(m *sftptest.Server, _ func()) { m.Flip.Store(true) }, exitFailed, "not sent: machine 127.0.0.1, part 0, part0/"},
			{"interrupted", func(m *sftptest.Server, stop func()) {
				m.Wrote(func(total int64) {
					if total > 3000 {
						stop()
					}
				})
			}, exitInterrupted, "not sent: the files that were sent stay on the machines"},
		} {
			t.Run(strings.Fields(line)[0]+" "+c.name, func(t *testing.T) {
				defer clean(t)
				m, flags := machine(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				c.tell(m, stop)
				status, text := endRun(ctx, line+flags)
				whole := "graphmill: out: the output is complete, but "
				if c.status == exitInterrupted {
					whole = "graphmill: interrupted: out: the output is complete, but "
				}
				if status != c.status || !strings.HasPrefix(text, whole) || !strings.Contains(text, c.says) {
					t.Errorf("found status %d and %q, expected %d, %q and %q", status, text, c.status, whole, c.says)
				}
				if !strings.Contains(text, "`graphmill dispatch out` with the same --ip-config") {
					t.Errorf("found no command that sends the rest: %s", text)
				}
				if code, text := endRun(t.Context(), "verify out"); code != exitDone {
					t.Errorf("verify ends with %d: %s", code, text)
				}
				if left := hidden(t); len(left) > 0 {
					t.Errorf("found %v", left)
				}
				if delivered(t, m) {
					t.Error("the machine has whole parts")
				}
				m.Full.Store(0)
				m.Free.Store(0)
				m.Flip.Store(false)
				if status, text := endRun(t.Context(), "dispatch out"+flags); status != exitDone || !delivered(t, m) {
					t.Errorf("the rest: status %d, whole on the machine %v: %s", status, delivered(t, m), text)
				}
			})
		}
	}
}

// TestDeliveryEnds fails each call on the disk here from the end of the parts on, and interrupts the run there, with a delivery after
// them: the words, the exit status and the disks agree. An interruption after the last byte was sent is none.
func TestDeliveryEnds(t *testing.T) {
	endInputs(t)
	disk := vfs.Unsynced{FS: vfs.OS}
	line := "dispatch g.store --assignment cut --out out"
	m, flags := machine(t)
	on(disk, func() {
		count := &vfs.Fault{FS: disk}
		watch := &sealing{FS: count, calls: count.Calls}
		on(watch, func() {
			if status, text := endRun(t.Context(), line+flags); status != exitDone {
				t.Fatalf("status %d: %s", status, text)
			}
		})
		want, err := os.ReadFile("out/" + store.ManifestSumFile)
		if err != nil || watch.at == 0 {
			t.Fatalf("call %d: %v", watch.at, err)
		}
		sent, stopped := 0, 0
		check := func(at int64, status int, text string, dead bool) {
			t.Helper()
			ended(t, status, text, want, nil, dead)
			switch whole := delivered(t, m); {
			case whole:
				sent++
			case status == exitDone:
				t.Errorf("call %d: nothing is on the machine: %s", at, text)
			case !strings.Contains(text, "the output is complete"):
			case !strings.Contains(text, "not sent"):
				t.Errorf("call %d: the run does not say that the parts are not sent: %s", at, text)
			}
			if delivered(t, m) && strings.Contains(text, "not sent") && !strings.Contains(text, "input/output error") {
				t.Errorf("call %d: the parts are sent: %s", at, text)
			}
		}
		fresh := func() {
			clean(t)
			if err := os.RemoveAll(filepath.Join(m.Root, "parts")); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range points(t, watch.at, count.Calls(), 6) {
			fresh()
			fault := &vfs.Fault{FS: disk, FailAt: at, Err: syscall.EIO, Short: at%2 == 0, Dead: at%3 == 0}
			var status int
			var text string
			on(fault, func() { status, text = endRun(t.Context(), line+flags) })
			if status != exitDone && !strings.Contains(text, "input/output error") {
				t.Fatalf("call %d: status %d, and the error does not name the fault: %s", at, status, text)
			}
			check(at, status, text, fault.Dead)

			fresh()
			ctx, cancel := context.WithCancel(t.Context())
			on(&stopping{Fault: &vfs.Fault{FS: disk}, at: at, stop: cancel}, func() { status, text = endRun(ctx, line+flags) })
			cancel()
			if status == exitInterrupted {
				stopped++
			} else if status != exitDone {
				t.Fatalf("call %d: status %d: %s", at, status, text)
			}
			check(at, status, text, false)
		}
		if sent == 0 || stopped == 0 {
			t.Errorf("found %d deliveries and %d interruptions", sent, stopped)
		}
	})
}
