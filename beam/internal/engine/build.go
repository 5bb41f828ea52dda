package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Executable is the path of the running program. On Linux it stays valid when the file is replaced.
func Executable() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// Build returns the identity of this program: the first 16 digits of the SHA-256 of its file.
func Build() (string, error) { return build() }

var build = sync.OnceValues(func() (string, error) {
	path, err := Executable()
	if err != nil {
		return "", err
	}
	f, err := vfs.OS.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
})
