//go:build unix

package vfs

import (
	"errors"
	"os"
)

// namedTemp makes a file and removes its name.
func namedTemp(dir string) (File, error) {
	f, err := os.CreateTemp(dir, ".graphmill-*.tmp")
	if err != nil {
		return nil, tooMany(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}
