package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestQuickstartEnds interrupts quickstart and lets the disk fail in the middle of it: the words say what is on the disk, and the command
// that they name goes on.
func TestQuickstartEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	tour := func(ctx context.Context, flags ...string) (int, string) {
		var out, errs bytes.Buffer
		status := execute(ctx, append([]string{"graphmill", "quickstart", "--out", "q"}, flags...), &out, &errs)
		return status, errs.String()
	}
	disk := vfs.Unsynced{FS: vfs.OS}
	on(disk, func() {
		count := &vfs.Fault{FS: disk}
		on(count, func() {
			if status, text := tour(t.Context()); status != exitDone {
				t.Fatalf("status %d: %s", status, text)
			}
		})
		const words = "what the steps before wrote is left in q; `graphmill quickstart --out q --force` begins anew"
		for _, at := range []int64{count.Calls() / 20, count.Calls() / 3, count.Calls() * 4 / 5} {
			for _, stops := range []bool{true, false} {
				if err := os.RemoveAll("q"); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var status int
				var text string
				if stops {
					on(&stopping{Fault: &vfs.Fault{FS: disk}, at: at, stop: cancel}, func() { status, text = tour(ctx) })
					if status != exitInterrupted || text != "graphmill: interrupted: "+words+"\n" {
						t.Errorf("call %d: found status %d and %q", at, status, text)
					}
				} else {
					on(&vfs.Fault{FS: disk, FailAt: at, Err: syscall.EIO}, func() { status, text = tour(ctx) })
					if status != exitDone && (status != exitFailed || !strings.Contains(text, "input/output error") || !strings.Contains(text, words)) {
						t.Errorf("call %d fails: found status %d and %q", at, status, text)
					}
				}
				if _, err := os.Stat("q/tables"); err != nil {
					t.Errorf("call %d: %v", at, err)
				}
			}
		}
		if status, text := tour(t.Context(), "--force"); status != exitDone {
			t.Errorf("the next run: status %d: %s", status, text)
		}
	})
}
