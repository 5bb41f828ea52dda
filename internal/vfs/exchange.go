package vfs

import (
	"errors"
	"os"
)

// exchange swaps two names through a third. Where a rename fails, b keeps its file or folder, unless a has got the name
// already. If the process ends midway, the file or folder of b stays under b + ".old".
func exchange(a, b string) error {
	old := b + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(old, b))
	}
	return os.Rename(old, a)
}
