package examplecolumns

// ErrOverflow is errOverflow.
var ErrOverflow = errOverflow
