//go:build !amd64 || purego

package vector

// stepWays are the ways of StepRows32 that this processor has.
func stepWays() map[string]steps {
	return map[string]steps{"StepRows32": StepRows32, "Go": stepRows32Plain}
}
