package records

// ErrMemory is errMemory.
var ErrMemory = errMemory
