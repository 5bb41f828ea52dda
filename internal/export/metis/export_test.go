package metis

// ErrMemory is errMemory.
var ErrMemory = errMemory
