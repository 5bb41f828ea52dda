package partition

import "sync/atomic"

// meter adds up what several goroutines have done.
type meter struct{ done atomic.Int64 }
