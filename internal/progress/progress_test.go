package progress

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// screen collects the output, one picture per write.
type screen struct {
	sync.Mutex
	pictures []string
}

func (s *screen) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	s.pictures = append(s.pictures, strings.TrimPrefix(string(b), clearLine))
	return len(b), nil
}

func columns(n int) func() int { return func() int { return n } }

func TestLineShowsRateAndTimeLeftAndClearsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := startLine(&s, columns(120), false, "import", 10_000_000, "edges", nil)
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range 100 { // 4 x 100 x 10,000 in 2 s: 2M/s
					time.Sleep(20 * time.Millisecond)
					l.Add(10_000)
				}
			})
		}
		workers.Wait()
		time.Sleep(150 * time.Millisecond)
		l.Done()
		l.Done()

		if len(s.pictures) != 22 {
			t.Errorf("%d pictures in 2.15 s, expected 10 per second and the clearing", len(s.pictures))
		}
		if last := s.pictures[len(s.pictures)-1]; last != "" {
			t.Errorf("the line ends as %q, want it cleared", last)
		}
		got := s.pictures[len(s.pictures)-2]
		if !strings.HasPrefix(got, "import  ▕█████████") || !strings.Contains(got, "4.00 million of 10.0 million edges") ||
			!strings.Contains(got, " million edges/s") || !strings.Contains(got, " left") {
			t.Errorf("got %q", got)
		}
	})
}

func TestShortWorkShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		l := startLine(&s, columns(80), true, "import", 10, "edges", nil)
		time.Sleep(interval / 2)
		l.Done()
		if len(s.pictures) != 0 {
			t.Errorf("got %q, want nothing", s.pictures)
		}
	})
}

func TestNobodyLooks(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, l := range []*Line{Start(new(bytes.Buffer), true, "a", 1, "", nil), Start(f, true, "a", 1, "", nil)} {
		if l != nil {
			t.Error("a line is shown where no terminal is")
		}
		l.Add(1)
		l.Done()
	}
}

func TestPicture(t *testing.T) {
	rows := func(total int64, unit string) *Line { return &Line{label: "import edges", total: total, unit: unit} }
	for _, c := range []struct {
		line    *Line
		n       int64
		rate    float64
		columns int
		want    string
	}{
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 140,
			"import edges  ▕██████████████▉         ▏   61%  0:01 left  41.6 million of 67.1 million edges  38.0 million edges/s"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 100, "import edges   61%  0:01 left  41.6 million of 67.1 million edges  38.0 million edges/s"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 70, "import edges   61%  0:01 left  38.0 million edges/s"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 40, "import edges   61%  0:01 left"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 24, "import…   61%  0:01 left"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 3, "61…"},
		{rows(67_108_864, "edges"), 41_600_000, 38e6, 0, ""},
		{rows(0, "edges"), 41_600_000, 38e6, 80, "import edges  0:05  41.6 million edges  38.0 million edges/s"},
		{rows(0, "bytes"), 1 << 20, 0, 80, "import edges  0:05  1.00 MiB"},
		{rows(1<<30, "bytes"), 1 << 29, 1 << 20, 80, "import edges   50%  8:32 left  512 MiB of 1.00 GiB  1.00 MiB/s"},
		{rows(1000, "x"), 1, 0.0001, 60, "import edges    0%  277:46:40 left  1 of 1,000 x"},
		// An amount above the total does not exceed the bar.
		{rows(1000, "x"), 2000, 5, 50, "import edges  100%  2,000 of 1,000 x  5.00 x/s"},
		{rows(0, "edges"), 41_600_000, 38e6, 50, "import edges  0:05  41.6 million edges"},
	} {
		if got := c.line.picture(moment{n: c.n, rate: c.rate, elapsed: 5 * time.Second}, c.columns); got != c.want {
			t.Errorf("%d columns:\n got %q\nwant %q", c.columns, got, c.want)
		}
	}
	dimmed := &Line{label: "import", unit: "rows", colour: true}
	if got, want := dimmed.picture(moment{n: 5}, 80), "import  0:00  \x1b[2m5 rows\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPictureOfARun(t *testing.T) {
	l := &Line{label: "edges a:r:b", total: 100, unit: "rows"}
	for _, c := range []struct {
		share   float64
		columns int
		want    string
	}{
		{0.25, 100, "edges a:r:b  ▕██████                  ▏   25% of the run  0:09 left  50.0 rows/s"},
		{0.25, 60, "edges a:r:b   25% of the run  0:09 left  50.0 rows/s"},
		{0.25, 40, "edges a:r:b   25% of the run  0:09 left"},
		{0.25, 30, "e…   25% of the run  0:09 left"},
		{1, 60, "edges a:r:b  100% of the run  50.0 rows/s"},
		{0, 60, "edges a:r:b   10%  0:02 left  10 of 100 rows  50.0 rows/s"},
	} {
		if got := l.picture(moment{n: 10, rate: 50, elapsed: time.Second, share: c.share, took: 3 * time.Second}, c.columns); got != c.want {
			t.Errorf("share %v in %d columns:\n got %q\nwant %q", c.share, c.columns, got, c.want)
		}
	}
}

// While the share stands, the time left falls. When it is over, nothing is said about the time left.
func TestTimeLeftFalls(t *testing.T) {
	l := &Line{label: "divide"}
	for since, want := range map[time.Duration]string{
		0:                  "divide   12% of the run  0:22 left",
		10 * time.Second:   "divide   12% of the run  0:12 left",
		21 * time.Second:   "divide   12% of the run  0:01 left",
		22 * time.Second:   "divide   12% of the run",
		1000 * time.Second: "divide   12% of the run",
	} {
		if got := l.picture(moment{n: 10, share: 0.12, took: 3 * time.Second, since: since}, 40); got != want {
			t.Errorf("after %v: got %q, want %q", since, got, want)
		}
	}
}

// The share that is shown is the last one that was set, with the time since the run began, not the stage.
func TestStagesOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		var w Whole
		w.Set(0)
		time.Sleep(time.Hour) // of work that has no share
		w.Set(0)
		time.Sleep(10 * time.Second)
		l := startLine(&s, columns(80), false, "edges", 100, "rows", &w)
		w.Set(0.5)
		time.Sleep(interval + interval/2)
		l.Done()
		if want := "edges  ▕████████████            ▏   50% of the run  0:10 left"; s.pictures[0] != want {
			t.Errorf("got %q, want %q", s.pictures[0], want)
		}
		w.Set(0.1) // of the next run
		time.Sleep(9 * time.Second)
		w.Set(0.4)
		time.Sleep(2 * time.Second)
		if share, took, since := w.done(time.Now()); share != 0.4 || took != 9*time.Second || since != 2*time.Second {
			t.Errorf("found share %v after %v of another run, %v ago, expected 0.4 after 9 s, 2 s ago", share, took, since)
		}
	})
}

func TestPictureFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Line{
			label: rapid.String().Draw(t, "label"),
			total: rapid.Int64Min(0).Draw(t, "total"),
			unit:  rapid.SampledFrom([]string{"", "bytes", "edges"}).Draw(t, "unit"),
		}
		n := rapid.Int64().Draw(t, "n")
		rate := rapid.Float64Range(-1e18, 1e18).Draw(t, "rate")
		width := rapid.IntRange(-1, 200).Draw(t, "columns")
		elapsed := time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "elapsed"))
		at := moment{n: n, rate: rate, elapsed: elapsed, took: elapsed, share: rapid.Float64Range(0, 2).Draw(t, "share"), since: elapsed / 3}
		got := l.picture(at, width)
		if utf8.RuneCountInString(got) > max(width, 0) {
			t.Fatalf("%q is wider than %d columns", got, width)
		}
	})
}
