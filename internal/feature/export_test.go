package feature

// ErrOverflow is errOverflow.
var ErrOverflow = errOverflow
