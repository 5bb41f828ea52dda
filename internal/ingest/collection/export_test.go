package collection

// The kinds of errors.
var (
	ErrFormat = errFormat
	ErrMemory = errMemory
)
