package vfs

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// IsMount says whether a file system is mounted on the folder, so that no rename can replace it: it is the root of a drive, or a junction to a volume.
func IsMount(dir string) bool {
	full, err := filepath.Abs(dir)
	if err != nil {
		return false // a later call says why
	}
	if filepath.Dir(full) == full {
		return true
	}
	// Only a folder on which a volume is mounted has a name of a volume, which is asked for with a backslash at the end.
	name, err := windows.UTF16PtrFromString(full + `\`)
	if err != nil {
		return false
	}
	var volume [windows.MAX_PATH]uint16
	return windows.GetVolumeNameForVolumeMountPoint(name, &volume[0], uint32(len(volume))) == nil
}
