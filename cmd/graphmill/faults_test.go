package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A command that reads a page of a map which the disk cannot read says which, ends with status 1, and leaves no output. For
// verify such a file is damage. The library's tests sweep over all pages.
func TestMapFaults(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Chdir(t.TempDir())
	call := func(line string) (status int, stdout, stderr string) {
		var out, failed bytes.Buffer
		status = runCommand(append([]string{"graphmill"}, strings.Fields(line)...), &out, &failed)
		return status, out.String(), failed.String()
	}
	for _, line := range []string{
		"generate rmat --scale 10 --edge-factor 8 --both --out g.store",
		"sample g.store --fanout 3 --scope seed --limit-seeds 300 --out g.coll",
		"partition g.store --parts 2 --method hash --out g.parts",
		"pack g.coll --limit num_nodes=32 --limit num_edges=40 --effort 0.01 --out plan",
	} {
		if status, _, stderr := call(line); status != exitDone {
			t.Fatalf("%s: %s", line, stderr)
		}
	}
	before := names(t)
	disk := vfs.OS
	t.Cleanup(func() { vfs.OS = disk })
	named := regexp.MustCompile(`^graphmill: (.*: )?[\w/.+-]+\.npy: byte \d+: input/output error\n$`)
	for line, page := range map[string]int64{
		"info g.store": 2, "bench sample g.store --fanout 3 --batches 5": 3, "forecast g.store --fanout 3": 2,
		"sample g.store --fanout 3 --out out": 3, "sample g.store --fanout 3 --executor stream --out out": 2,
		"partition g.store --parts 2 --out out": 4, "partition g.store --parts 2 --method fennel --out out": 3,
		"partition-graph g.store --parts 2 --out out": 3, "dispatch g.store --assignment g.parts --out out": 4,
		"export g.store --to chunked --out out": 3, "export g.store --to metis --out out": 3, "export g.coll --to tfrecord --out out": 3,
		"chunk g.store --out out": 3, "walk g.store --length 3 --walks 2 --out out": 3, "tfgnn from-store g.store --out out": 3,
		"pack g.coll --limit num_nodes=32 --limit num_edges=40 --out out": 3, "pack fill plan g.coll --out out": 3,
		"pack materialise plan g.coll --out out": 4, "pack hist g.coll": 3, "verify g.store": 3,
	} {
		vfs.OS = &vfs.Fault{FS: disk, FailPage: page}
		status, stdout, stderr := call(line)
		vfs.OS = disk
		if strings.HasPrefix(line, "verify") {
			if status != exitDamaged || !strings.Contains(stdout, "input/output error") {
				t.Errorf("%s: found status %d, %s%s, expected damage", line, status, stdout, stderr)
			}
			continue
		}
		if last := stderr[strings.LastIndexByte(strings.TrimSuffix(stderr, "\n"), '\n')+1:]; status != exitFailed || !named.MatchString(last) {
			t.Errorf("%s: found status %d and %q, expected status %d and a file", line, status, stderr, exitFailed)
		}
		if left := names(t); left != before {
			t.Errorf("%s: found %s, expected no output", line, left)
		}
	}

	// Another program cuts a file between the opening and the reading: a file of the manifest that has its size then.
	vfs.OS = cutting{disk, filepath.FromSlash("g.store/edges/_N+_E+_N/far.npy")}
	status, _, stderr := call("bench sample g.store --fanout 3 --batches 5")
	vfs.OS = disk
	if want := "far.npy: byte "; status != exitFailed || !strings.Contains(stderr, want) || !strings.Contains(stderr, "the file was cut while it was read: found 4096 bytes") {
		t.Errorf("found status %d and %q, expected %q", status, stderr, want)
	}
}

// names are the files of the working folder.
func names(t *testing.T) string {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// cutting cuts a file once it is mapped.
type cutting struct {
	vfs.FS
	name string
}

func (c cutting) Open(name string) (vfs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil || name != c.name {
		return f, err
	}
	return cutFile{f}, nil
}

type cutFile struct{ vfs.File }

func (f cutFile) Map() ([]byte, func() error, error) {
	b, unmap, err := f.File.Map()
	if err != nil {
		return nil, nil, err
	}
	return b, unmap, os.Truncate(f.Name(), 4096)
}
