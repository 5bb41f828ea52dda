package vfs

import "context"

// Later is a File whose bytes come from another machine, so that mapping it can wait until it is known whether they are wanted.
type Later interface {
	File
	// MapLater is Map without its bytes, but for the first HeadBytes of them: a read of the others is an error of
	// guard.Do until fetch has returned. fetch is called at most once, before the returned unmap.
	MapLater() (b []byte, fetch FetchBytes, unmap func() error, err error)
}

// FetchBytes brings the bytes of a file from one place to another, perhaps some around them; a place beyond the end is the end.
type FetchBytes func(ctx context.Context, from, to int64) error

// HeadBytes is how many bytes at the start of a map of MapLater are there at once.
const HeadBytes = 4096
