package direct

// Direct reports whether the page cache is bypassed. A file system may refuse as late as at the first read or write.
func (h *handle) Direct() bool { return h.direct.Load() }
