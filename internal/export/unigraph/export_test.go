package unigraph

// SetMaxWaiting makes early chunks wait on disk sooner.
func SetMaxWaiting(n int64) (restore func()) {
	before := maxWaiting
	maxWaiting = n
	return func() { maxWaiting = before }
}
