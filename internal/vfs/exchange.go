package vfs

import "os"

// exchange swaps two names through a third. If it ends midway, the file or folder of b stays under b + ".old".
func exchange(a, b string) error {
	old := b + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(old, a)
}
