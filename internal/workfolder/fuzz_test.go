package workfolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzMessages reads any bytes as a worker's last message and as its failure. What cannot be read is left out.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"host":"a","text":"b","final":true}`))
	f.Add([]byte(`{"done":18446744073709551615}`))
	dir := f.TempDir()
	if err := Reset(vfs.OS, dir); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			for _, folder := range []string{pulses, failures} {
				if err := os.WriteFile(filepath.Join(dir, folder, "x.json"), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			n := 0
			Pulses(vfs.OS, dir, func(struct{ Done uint64 }) { n++ })
			final, other := Failures(vfs.OS, dir)
			if n > 1 || len(final)+len(other) > 1 {
				t.Fatalf("found %d messages, %q and %q, expected at most one", n, final, other)
			}
			for _, text := range append(final, other...) {
				if !strings.HasPrefix(text, "worker on ") {
					t.Fatalf("found %q", text)
				}
			}
		})
	})
}
