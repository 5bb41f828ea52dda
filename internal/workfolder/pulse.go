package workfolder

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Beat is the time between two messages of a worker, and between two looks for them.
const Beat = 500 * time.Millisecond

// remoteBeat is Beat where the work folder is in an object store, in which each message is a request. Tests lower it.
var remoteBeat = 10 * time.Second

// BeatOf is the time between two messages of a worker of a work folder.
func BeatOf(fsys vfs.FS, dir string) time.Duration {
	if vfs.SenderOf(fsys, dir) != nil {
		return remoteBeat
	}
	return Beat
}

// Pulse tells the submitter every now and then what a worker has done.
type Pulse[C comparable] struct {
	fs   vfs.FS
	dir  string // the work folder
	read func() C
	name string
	end  chan struct{}
	done chan struct{}
}

// StartPulse starts to tell what read returns, until Stop.
func StartPulse[C comparable](fsys vfs.FS, dir string, read func() C) *Pulse[C] {
	p := &Pulse[C]{fs: fsys, dir: dir, read: read, name: filepath.Join(dir, pulses, Unique()+".json"), end: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *Pulse[C]) run() {
	defer close(p.done)
	tick := time.NewTicker(BeatOf(p.fs, p.dir))
	defer tick.Stop()
	var last C
	for {
		select {
		case <-tick.C:
		case <-p.end:
			p.tell(p.read())
			return
		}
		if now := p.read(); now != last {
			p.tell(now)
			last = now
		}
	}
}

// tell replaces the message. A message that is lost is no fault: it only serves progress.
func (p *Pulse[C]) tell(c C) {
	b, err := json.Marshal(c)
	if err != nil {
		return
	}
	_ = say(p.fs, p.dir, p.name, b)
}

// Stop tells a last time. A nil Pulse stops too.
func (p *Pulse[C]) Stop() {
	if p == nil {
		return
	}
	close(p.end)
	<-p.done
}

// Pulses calls add with the last message of each worker.
func Pulses[C comparable](fsys vfs.FS, dir string, add func(C)) {
	entries, err := fsys.ReadDir(filepath.Join(dir, pulses))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var c C
		if b, err := vfs.ReadFile(fsys, filepath.Join(dir, pulses, e.Name()), 1<<16); err == nil && json.Unmarshal(b, &c) == nil {
			add(c)
		}
	}
}
