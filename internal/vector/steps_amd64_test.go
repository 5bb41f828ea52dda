//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// stepWays are the ways of StepRows32 that this processor has.
func stepWays() map[string]steps {
	ways := map[string]steps{"StepRows32": StepRows32, "Go": stepRows32Plain}
	if cpu.X86.HasAVX2 {
		ways["AVX2"] = stepAVX2
	}
	if cpu.X86.HasAVX512F {
		ways["AVX-512"] = stepAVX512
	}
	return ways
}
