package feed

import (
	"fmt"
	"sync"
	"time"
)

// Log tells the operator of a server which clients were refused or cut off, and why. A client that fails again and again
// does not fill the disk: lines above mostLines per second are only counted. A nil Log writes nothing.
type Log struct {
	say func(line string)

	mu     sync.Mutex
	second int64
	lines  int // of this second
	left   int // lines that were left out since the last line
}

// mostLines is the most lines per second.
const mostLines = 10

// NewLog is a log whose lines go to say, one call at a time.
func NewLog(say func(line string)) *Log { return &Log{say: say} }

// Client writes why a client was refused or cut off.
func (l *Log) Client(name string, reason error) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now().Unix(); now != l.second {
		l.second, l.lines = now, 0
	}
	if l.lines++; l.lines > mostLines {
		l.left++
		return
	}
	if l.left > 0 {
		l.say(fmt.Sprintf("left out %d lines about clients", l.left))
		l.left = 0
	}
	l.say(fmt.Sprintf("client %s: %v", name, reason))
}
