package vfs

// Unsynced is a file system that does not wait for the disk, for tests that write much and do not test crashes.
type Unsynced struct{ FS }

type unsyncedFile struct{ File }

// Create implements FS. Sync of the file does nothing.
func (u Unsynced) Create(name string) (File, error) {
	f, err := u.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

// SyncDir implements FS and does nothing.
func (Unsynced) SyncDir(string) error { return nil }

// Sync implements File and does nothing.
func (unsyncedFile) Sync() error { return nil }
