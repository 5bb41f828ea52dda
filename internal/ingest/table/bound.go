package table

import "context"

// boundKey is the key of the bound of Bound in a context.
type boundKey struct{}

// leastRecord is the least bound of a record.
const leastRecord = 64 << 10

// Bound is a context for scans by a process that may use memory bytes, with a number of threads. The rows of text and the
// records of such scans have at most a share of the memory, besides the bounds that all scans have. 0 is no bound.
func Bound(ctx context.Context, memory int64, threads int) context.Context {
	if memory <= 0 {
		return ctx
	}
	// A scan has up to threads + 2 buffers, which can be 4 times as large as a row, and vectors that are made of it.
	return context.WithValue(ctx, boundKey{}, int(max(memory/int64(16*(max(threads, 1)+2)), leastRecord)))
}

// RecordLimit is the smaller one of a limit of a record and the bound of a context.
func RecordLimit(ctx context.Context, limit int) int {
	if n, ok := ctx.Value(boundKey{}).(int); ok {
		return min(n, limit)
	}
	return limit
}

// LimitAdvice explains a limit that comes from the memory.
func LimitAdvice(limit, usual int) string {
	if limit < usual {
		return ", or give more `Memory`, of which a record may take a share"
	}
	return ""
}
