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

	once sync.Once
	stop chan struct{}
	gone chan struct{}
}

// Start shows work on w, usually os.Stderr: its label ("import edges"), its amount (0 means unknown) and the unit
// ("edges"; "bytes" are shown as MiB). With colour, its less important parts are dim. It returns nil where w is not a terminal.
func Start(w io.Writer, colour bool, label string, total int64, unit string) *Line {
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
	return start(w, width, colour, label, total, unit)
}

func start(w io.Writer, width func() int, colour bool, label string, total int64, unit string) *Line {
	l := &Line{
		w: w, width: width, colour: colour,
		label: human.Printable(label), total: max(total, 0), unit: human.Printable(unit),
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
			n := l.n.Load()
			m.update(now, n)
			// Errors of a terminal that is gone are ignored, so that the work goes on. One column stays free, because
			// terminals wrap there.
			_, _ = io.WriteString(l.w, clearLine+l.picture(n, m.rate, now.Sub(began), l.width()-1))
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

// picture is the line in at most columns characters. Where there is no room, it leaves out the bar first, then the
// amount, the rate, and at last the end of the label. It keeps the share that is done and the time left longest. Where
// the total is unknown, nothing but the amount tells how far the work is, so the rate goes before it.
func (l *Line) picture(n int64, rate float64, elapsed time.Duration, columns int) string {
	amount, left := human.AmountWords(n, l.unit), clock(elapsed)
	var speed, bar string
	if rate >= 1 {
		speed = human.Speed(int64(rate), time.Second, l.unit)
	}
	if l.total > 0 {
		part := min(max(float64(n)/float64(l.total), 0), 1)
		amount = human.AmountWords(l.total, l.unit)
		if l.unit == "bytes" {
			amount = human.Bytes(n) + " of " + amount
		} else {
			amount = human.CountWords(n) + " of " + amount
		}
		left = padLeft(human.Percent(float64(int(part*100))/100), 4)
		if n > 0 && n < l.total && rate > 0 {
			left += "  " + clock(time.Duration(min(float64(l.total-n)/rate, 1e6)*1e9)) + " left"
		}
		bar = drawBar(part)
	}
	parts := []string{l.label, bar, left, amount, speed}
	drops := []int{1, 3, 4} // bar, amount, rate
	if l.total <= 0 {
		drops = []int{1, 4, 3}
	}
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
