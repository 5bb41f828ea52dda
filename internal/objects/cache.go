package objects

import (
	"fmt"
	"sync"

	"github.com/graphmill/graphmill/internal/human"
)

// transitBytes is the part of the cache whose blocks make place for others, first in, first out. The others stay: a sweep over
// more than the cache holds would otherwise find none of its blocks again.
const transitBytes = 16 * blockBytes

// leastCache is the least bound of a cache.
const leastCache = 2 * transitBytes

// cache counts the bytes of blocks on the local disk.
type cache struct {
	mu      sync.Mutex
	bound   int64
	used    int64
	transit []place
	// idle drops an object that nobody uses, and returns its bytes.
	idle func() (bytes int64, ok bool)
}

// place is a block of an object.
type place struct {
	object *object
	block  int64
}

// take counts n bytes for a block, and says whether there was room.
func (c *cache) take(o *object, block, n int64) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tries := len(c.transit); c.used+n > c.bound && tries > 0; tries-- {
		p := c.transit[0]
		c.transit = c.transit[1:]
		freed, gone := p.object.evict(p.block)
		if freed {
			_, bytes := p.object.span(p.block)
			c.used -= bytes
		}
		if !gone {
			c.transit = append(c.transit, p)
		}
	}
	for c.used+n > c.bound {
		bytes, ok := c.idle()
		if !ok {
			break
		}
		c.used -= bytes
	}
	if c.used+n > c.bound {
		return false, nil
	}
	c.used += n
	if c.used > c.bound-transitBytes {
		c.transit = append(c.transit, place{o, block})
	}
	return true, nil
}

// give takes back bytes of a block that was not fetched.
func (c *cache) give(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= n
}

// full is the error of an object that does not fit.
func (c *cache) full(size int64) error {
	return fmt.Errorf("found %s that must be on the local disk as a whole, expected room for it in the cache of %s; set GRAPHMILL_CACHE_SIZE to more, or sample with the executor stream, which reads parts",
		human.Bytes(size), human.Bytes(c.bound))
}
