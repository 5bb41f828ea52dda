package objects

import (
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzLock reads any bytes as the lock of another process. They name a process, or nobody.
func FuzzLock(f *testing.F) {
	f.Add([]byte(`{"process":"12 host boot,pid:[1],net:[2] 7 nonce","id":"x","beat":3}`))
	f.Add([]byte(`{"process":"12 host"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			who, ended, err := vfs.ProcessOf(parseLock(b).Process)
			if (err == nil) != strings.HasPrefix(who, "process ") || err != nil && ended {
				t.Errorf("found %q, %v, %v", who, ended, err)
			}
		})
	})
}
