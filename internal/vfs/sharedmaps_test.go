package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// A file has one map under all its names until the last one is removed; a file that replaced it has its own.
func TestSharedMaps(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	write := func(n, text string) {
		t.Helper()
		if err := os.WriteFile(name(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "first")
	write("empty", "")
	write("same", "first")
	if err := os.Link(name("a"), name("b")); err != nil {
		t.Fatal(err)
	}
	shared := SharedMaps(OS)
	maps := func(n string) ([]byte, func() error) {
		t.Helper()
		f, err := shared.Open(name(n))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, unmap, err := f.Map()
		if err != nil {
			t.Fatal(err)
		}
		return b, unmap
	}
	at := func(b []byte) *byte { return unsafe.SliceData(b) }
	a, unmapA := maps("a")
	b, unmapB := maps("b")
	other, unmapOther := maps("same")
	if at(a) != at(b) || at(a) == at(other) {
		t.Error("found other places, expected one for the two names of a file, and another for another file")
	}
	if err := os.Remove(name("a")); err != nil {
		t.Fatal(err)
	}
	write("a", "other")
	replaced, unmapReplaced := maps("a")
	if at(replaced) == at(a) || string(replaced) != "other" || string(b) != "first" {
		t.Errorf("found %q and %q, expected the new file and the old one", replaced, b)
	}
	empty, unmapEmpty := maps("empty")
	if len(empty) != 0 {
		t.Errorf("found %q, expected nothing", empty)
	}
	if err := unmapA(); err != nil || string(b) != "first" {
		t.Errorf("found %q, %v after one of two maps was removed", b, err)
	}
	for _, unmap := range []func() error{unmapB, unmapOther, unmapReplaced, unmapEmpty} {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	}
	if n := len(shared.(*sharedMaps).open); n != 0 {
		t.Errorf("found %d maps left, expected none", n)
	}
	again, unmap := maps("b")
	if string(again) != "first" {
		t.Errorf("found %q, expected the file again", again)
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
}
