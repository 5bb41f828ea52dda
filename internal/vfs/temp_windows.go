package vfs

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Temp implements FS. The file has a name until it is closed. Windows removes it then, and when the process ends in any way.
func (osFS) Temp(dir string) (File, error) {
	name := filepath.Join(dir, ".graphmill-"+rand.Text()+".tmp")
	return wrap(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600))
}
