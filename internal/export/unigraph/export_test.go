package unigraph

// SetMaxWaiting makes early chunks wait on disk sooner.
func SetMaxWaiting(n int64) (restore func()) {
	before := maxWaiting
	maxWaiting = n
	return func() { maxWaiting = before }
}

// Names that tests use from outside the package.
var (
	ErrInexpressible = errInexpressible
	FromGraph        = fromGraph
	DGFFromGraph     = dgfFromGraph
	Write            = writeTable
)

// Column is tableColumn.
type Column = tableColumn
