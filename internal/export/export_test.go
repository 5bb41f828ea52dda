package export

// ErrMemory is errMemory.
var ErrMemory = errMemory
