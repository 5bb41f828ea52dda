package workfolder

import (
	"errors"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// In a bucket, messages are made while somebody listens, and the folder is gone after RemoveAll, also for workers that outlive the job.
func TestRemote(t *testing.T) {
	beat := remoteBeat
	remoteBeat = time.Millisecond
	t.Cleanup(func() { remoteBeat = beat })
	server := objectstest.New(t, "bkt")
	fsys := objects.New("s3", objects.Options{Cache: t.TempDir()})
	const dir = "s3://bkt/_out.work"
	release, err := Hold(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	early := StartPulse(fsys, dir, func() int { return 1 })
	early.Stop()
	if n := count(fsys, dir); n != 0 {
		t.Errorf("found %d messages before Reset, expected none", n)
	}
	if err := Reset(fsys, dir); err != nil {
		t.Fatal(err)
	}
	p := StartPulse(fsys, dir, func() int { return 7 })
	Fail(fsys, dir, errors.New("a bad row"))
	p.Stop()
	if n := count(fsys, dir); n != 7 {
		t.Errorf("found messages with the sum %d, expected 7", n)
	}
	if final, other := Failures(fsys, dir); len(final) != 1 || len(other) != 0 || !Hopeless(fsys, dir) {
		t.Errorf("found %q and %q, expected one error", final, other)
	}
	late := StartPulse(fsys, dir, func() int { return 9 })
	if err := RemoveAll(fsys, dir); err != nil {
		t.Fatal(err)
	}
	late.Stop()
	Fail(fsys, dir, errors.New("another bad row"))
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if left := server.Names(); len(left) > 0 {
		t.Errorf("found %q, expected nothing, also of a message that began before the removal", left)
	}
}

// count adds up the messages of a folder.
func count(fsys vfs.FS, dir string) (sum int) {
	Pulses(fsys, dir, func(n int) { sum += n })
	return sum
}

// On the disk Hold does nothing.
func TestHold(t *testing.T) {
	for range 2 {
		release, err := Hold(vfs.OS, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}
