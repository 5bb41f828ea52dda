package vfs

import (
	"os"
	"path/filepath"
)

// removeByName removes a file, or a folder and what is in it, by calls that take a path.
func removeByName(name string) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			err = removeByName(filepath.Join(name, e.Name()))
		} else {
			err = os.Remove(filepath.Join(name, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	return os.Remove(name)
}
