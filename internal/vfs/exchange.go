package vfs

import "os"

// exchange swaps two names by way of a third. Ended midway, it leaves what was
// at b under b + ".old".
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
