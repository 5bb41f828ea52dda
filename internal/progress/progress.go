package progress

import (
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/graphmill/graphmill/internal/human"
)

const (
	// interval is the time between two pictures. The first comes after one interval, so shorter work shows nothing.
	interval = 100 * time.Millisecond
	// memory is the time constant of the rate: after it, an old rate counts 1/e.
	memory = 4 * time.Second

	clearLine = "\r\x1b[2K"
	dim       = "\x1b[2m"
	plain     = "\x1b[0m"
)

// Line is one piece of work in progress. A nil Line does nothing.
type Line struct {
	n atomic.Int64

	w      io.Writer
	width  func() int // columns of the terminal now
	colour bool
	label  string
	total  int64 // 0 means unknown
	unit   string
	whole  *Whole // the run of which the work is a stage, or nil

	once sync.Once
	stop chan struct{}
	gone chan struct{}
}

// Stage is a stage of a run, with the work that it is expected to take. A stage with twice the work takes about twice the time.
type Stage struct {
	Name string
	Work float64
}

// Whole is a run of several stages. The line of a stage shows how far the run is, where that is known. The zero Whole is a run
// that begins with the first call of Set.
type Whole struct {
	mu           sync.Mutex
	began, moved time.Time // moved is when the share changed last
	share        float64
}

// Set sets the share of the run that is done, from 0 to 1; 0 means that it is not known. A run begins when its share is last 0, so
// that work without a share does not count as time of the run, and anew when its share falls. Any goroutine may call Set.
func (w *Whole) Set(share float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if share == 0 || share < w.share || w.began.IsZero() {
		w.began = now
	}
	if share != w.share || w.moved.IsZero() {
		w.moved = now
	}
	w.share = share
}

// done returns the share of the run that is done, the time that the run took to get there, and the time since then.
func (w *Whole) done(now time.Time) (share float64, took, since time.Duration) {
	if w == nil {
		return 0, 0, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.share, w.moved.Sub(w.began), now.Sub(w.moved)
}

// Start shows work on w, usually os.Stderr: its label ("import edges"), its amount (0 means unknown) and the unit
// ("edges"; "bytes" are shown as MiB). With colour, its less important parts are dim. The work may be a stage of a run, or
// whole is nil. It returns nil where w is not a terminal.
func Start(w io.Writer, colour bool, label string, total int64, unit string, whole *Whole) *Line {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	width := func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			return 80
		}
		return columns
	}
	return startLine(w, width, colour, label, total, unit, whole)
}

func startLine(w io.Writer, width func() int, colour bool, label string, total int64, unit string, whole *Whole) *Line {
	l := &Line{
		w: w, width: width, colour: colour,
		label: human.Printable(label), total: max(total, 0), unit: human.Printable(unit), whole: whole,
		stop: make(chan struct{}), gone: make(chan struct{}),
	}
	go l.run()
	return l
}

// Add adds n to the amount that is done. Any goroutine may call it.
func (l *Line) Add(n int64) {
	if l != nil {
		l.n.Add(n)
	}
}

// Done clears the line. Calling it again does nothing.
func (l *Line) Done() {
	if l == nil {
		return
	}
	l.once.Do(func() { close(l.stop) })
	<-l.gone
}

func (l *Line) run() {
	defer close(l.gone)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var m meter
	m.last = time.Now()
	began, shown := m.last, false
	for {
		select {
		case <-l.stop:
			if shown {
				_, _ = io.WriteString(l.w, clearLine)
			}
			return
		case now := <-tick.C:
			at := moment{n: l.n.Load(), elapsed: now.Sub(began)}
			m.update(now, at.n)
			at.rate = m.rate
			at.share, at.took, at.since = l.whole.done(now)
			// Errors of a terminal that is gone are ignored, so that the work goes on. One column stays free, because
			// terminals wrap there.
			_, _ = io.WriteString(l.w, clearLine+l.picture(at, l.width()-1))
			shown = true
		}
	}
}

// meter is the recent rate: an average with weights that fade with time.
type meter struct {
	rate   float64 // per second
	weight float64 // sum of the weights so far, up to 1
	last   time.Time
	n      int64
}

func (m *meter) update(now time.Time, n int64) {
	d := now.Sub(m.last)
	if d <= 0 {
		return
	}
	// 1 - exp(-d/memory) to first order; ticks are short compared with memory.
	share := min(float64(d)/float64(memory), 1)
	m.weight = m.weight*(1-share) + share
	m.rate += (float64(n-m.n)/d.Seconds() - m.rate) * share / m.weight
	m.last, m.n = now, n
}

// moment is how far the work of a line is.
type moment struct {
	n       int64
	rate    float64       // per second
	elapsed time.Duration // since the work began
	share   float64       // of the run; 0 where it is not known
	took    time.Duration // from the beginning of the run until the share was reached
	since   time.Duration // since then
}

// picture is the line in at most columns characters. Where there is no room, it leaves out the bar first, then the
// amount, the rate, and at last the end of the label. It keeps the share that is done and the time left longest. Where
// the total is unknown, nothing but the amount tells how far the work is, so the rate goes before it. Where it is known how far the
// run is, the line shows the bar, the share and the time left of the run, and no amount, because an amount belongs to the stage.
func (l *Line) picture(at moment, columns int) string {
	amount, left := human.AmountWords(at.n, l.unit), clock(at.elapsed)
	var speed, bar string
	if at.rate >= 1 {
		speed = human.Speed(int64(at.rate), time.Second, l.unit)
	}
	drops := []int{1, 3, 4} // bar, amount, rate
	switch {
	case at.share > 0:
		part := min(at.share, 1)
		amount, bar = "", drawBar(part)
		left = percent(part) + " of the run"
		// While the share stands, the time left falls, and is not known any more once it is over.
		rest := time.Duration(min(at.took.Seconds()*(1-part)/part, 1e6)*1e9) - at.since
		if part < 1 && rest > 0 {
			left += "  " + clock(rest) + " left"
		}
	case l.total > 0:
		part := min(max(float64(at.n)/float64(l.total), 0), 1)
		amount = human.AmountWords(l.total, l.unit)
		if l.unit == "bytes" {
			amount = human.Bytes(at.n) + " of " + amount
		} else {
			amount = human.CountWords(at.n) + " of " + amount
		}
		left = percent(part)
		if at.n > 0 && at.n < l.total && at.rate > 0 {
			left += "  " + clock(time.Duration(min(float64(l.total-at.n)/at.rate, 1e6)*1e9)) + " left"
		}
		bar = drawBar(part)
	default:
		drops = []int{1, 4, 3}
	}
	parts := []string{l.label, bar, left, amount, speed}
	for _, drop := range drops {
		if length(parts) <= columns {
			break
		}
		parts[drop] = ""
	}
	if over := length(parts) - columns; over > 0 {
		parts[0] = human.Cut(l.label, utf8.RuneCountInString(l.label)-over)
	}
	if length(parts) > columns {
		parts = []string{human.Cut(strings.TrimSpace(left), columns)}
	}
	if l.colour && len(parts) == 5 {
		for _, i := range []int{3, 4} {
			if parts[i] != "" {
				parts[i] = dim + parts[i] + plain
			}
		}
	}
	return strings.Join(without(parts), "  ")
}

// percent is a share in whole percents that are reached, in four characters.
func percent(part float64) string { return padLeft(human.Percent(float64(int(part*100))/100), 4) }

const barWidth = 24

// drawBar fills barWidth characters in eighths.
func drawBar(part float64) string {
	eighths := int(part * barWidth * 8)
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return "▕" + s + strings.Repeat(" ", barWidth-utf8.RuneCountInString(s)) + "▏"
}

// clock is 0:07, 12:34 or 1:02:03.
func clock(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	two := func(n int64) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }
	if s < 3600 {
		return human.Exact(s/60) + ":" + two(s%60)
	}
	return human.Exact(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
}

func without(parts []string) []string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

func length(parts []string) int {
	return utf8.RuneCountInString(strings.Join(without(parts), "  "))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0)) + s
}
