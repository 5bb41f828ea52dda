package vfs

// Exchange implements FS, by three renames.
func (osFS) Exchange(a, b string) error { return inUse(exchange(a, b)) }
