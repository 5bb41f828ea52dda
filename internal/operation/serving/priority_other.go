//go:build !linux

package serving

// lowerPriority does nothing: other systems give processes a priority, not threads.
func lowerPriority() {}
