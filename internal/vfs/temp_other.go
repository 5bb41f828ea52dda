//go:build unix && !linux

package vfs

// Temp implements FS.
func (osFS) Temp(dir string) (File, error) { return namedTemp(dir) }
