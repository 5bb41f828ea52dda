package engine

// cause returns the root cause in the text of a failure.
func cause(text string) string { return text }
