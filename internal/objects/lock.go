package objects

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The times of locks: a holder writes its lock anew after every lockBeat, and a lock that stays as it is for lockTime is of a holder that has
// ended. No clocks are compared. Tests lower them.
var (
	lockBeat = 5 * time.Second
	lockTime = 30 * time.Second
)

// lockText is the contents of a lock.
type lockText struct {
	Process string `json:"process"` // vfs.Process
	ID      string `json:"id"`      // of this lock alone
	Beat    int    `json:"beat"`    // so that each state of the lock is another object
}

// heldLock is a lock that this process holds.
type heldLock struct {
	at      address
	service service
	text    lockText
	tag     string // of the state that this process wrote last
	end     chan struct{}
	renewal guard.Group // its error says that the lock was lost
}

// Lock implements vfs.FS. The lock of a folder of a bucket is an object beside it. Whoever finds one waits until its holder writes it anew: then the error is vfs.ErrLocked. A
// lock whose holder has ended, as far as this machine or the lack of writing tells, is taken over.
func (f *FS) Lock(name string) (func() error, error) {
	a, s, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if staged != "" {
		return vfs.OS.Lock(staged)
	}
	l, err := takeLock(context.Background(), a, s)
	if err != nil {
		return nil, failed("lock", a, err)
	}
	return l.unlock, nil
}

func takeLock(ctx context.Context, folder address, s service) (*heldLock, error) {
	me, err := vfs.Process()
	if err != nil {
		return nil, err
	}
	l := &heldLock{at: address{folder.scheme, folder.bucket, folder.key + vfs.LockSuffix}, service: s, text: lockText{Process: me, ID: rand.Text()}, end: make(chan struct{})}
	var seen version // the lock of another holder, since a time
	var since time.Time
	for {
		if err = l.put(ctx, ""); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		other, v, err := readLock(ctx, s, l.at.key)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errChanged) {
			continue // the holder has ended, or wrote it
		}
		if err != nil {
			return nil, err
		}
		who, ended, err := vfs.ProcessOf(other.Process)
		if err != nil {
			who = "another process"
		}
		switch {
		case since.IsZero():
			seen, since = v, time.Now()
		case v.tag != seen.tag:
			return nil, fmt.Errorf("%w: %s writes %s; let it end, or end it", vfs.ErrLocked, who, l.at)
		}
		if ended || time.Since(since) >= lockTime {
			err := l.put(ctx, v.tag)
			if errors.Is(err, fs.ErrExist) {
				return nil, fmt.Errorf("%w: another process has just taken %s over; let it end, or end it", vfs.ErrLocked, l.at)
			}
			if err != nil {
				return nil, err
			}
			break
		}
		if err := sleep(ctx, lockBeat/4); err != nil {
			return nil, err
		}
	}
	l.renewal.Go(l.renew)
	return l, nil
}

// put writes the lock in the place of the state with a tag, or where there is none. The error is fs.ErrExist where there is another state. A server may not
// know the condition of a state, so the lock is looked at before and after.
func (l *heldLock) put(ctx context.Context, tag string) error {
	l.text.Beat++
	b, err := json.Marshal(&l.text)
	if err != nil {
		return err
	}
	if tag != "" {
		now, v, err := readLock(ctx, l.service, l.at.key)
		switch {
		case err == nil && now.ID == l.text.ID: // also the state of a try whose answer was lost
			tag = v.tag
		case err == nil && v.tag != tag, errors.Is(err, fs.ErrNotExist), errors.Is(err, errChanged):
			return fs.ErrExist
		case err != nil:
			return err
		}
	}
	putErr := l.service.swap(ctx, l.at.key, b, tag)
	if putErr != nil && !errors.Is(putErr, fs.ErrExist) {
		return putErr
	}
	now, v, err := readLock(ctx, l.service, l.at.key)
	switch {
	case err == nil && now == l.text: // also where the answer to the first try of several was lost
		l.tag = v.tag
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errChanged):
		return fs.ErrExist
	case putErr == nil && tag == "": // it is this one, and nobody will hold it
		err = errors.Join(err, l.service.remove(ctx, l.at.key))
	}
	return err
}

// readLock reads a lock.
func readLock(ctx context.Context, s service, key string) (l lockText, v version, err error) {
	const most = 1 << 12
	if v, err = s.head(ctx, key); err != nil {
		return l, v, err
	}
	if v.size > most {
		return l, v, fmt.Errorf("%s: found %d bytes, expected the lock of a run; remove it, if no run writes there", key, v.size)
	}
	b := make([]byte, v.size)
	if err := fetch(ctx, s, key, v, 0, v.size, &atBytes{b, 0}); err != nil {
		return l, v, err
	}
	return parseLock(b), v, nil
}

// parseLock reads the contents of a lock. A text that cannot be read names nobody.
func parseLock(b []byte) (l lockText) {
	if json.Unmarshal(b, &l) != nil {
		return lockText{}
	}
	return l
}

// renew writes the lock anew until unlock.
func (l *heldLock) renew() error {
	var lost error
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-l.end:
			return lost
		case <-time.After(lockBeat):
		}
		if lost != nil {
			continue
		}
		// An error of the network is no loss: the next beat tries again.
		if err := l.put(ctx, l.tag); errors.Is(err, fs.ErrExist) {
			lost = fmt.Errorf("%s: %w: it took the lock over, since this process had not written it for %s; look whether both made the same output", l.at, vfs.ErrLocked, lockTime)
		}
	}
}

// unlock removes the lock. The error says that it was lost.
func (l *heldLock) unlock() error {
	close(l.end)
	if err := l.renewal.Wait(); err != nil {
		return err
	}
	ctx := context.Background()
	v, err := l.service.head(ctx, l.at.key)
	if errors.Is(err, fs.ErrNotExist) || err == nil && v.tag != l.tag {
		return nil // not this one
	}
	if err == nil {
		err = l.service.remove(ctx, l.at.key)
	}
	return failed("unlock", l.at, err)
}

// sleep waits. It returns the cause of a context that is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
