package features

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Parts of times are those of the standard library's texts, which another code makes.
func TestCalendar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		seconds := r.Int64N(8e9) - 4e9
		for _, zone := range []string{"", "America/New_York", "Asia/Kolkata"} {
			location, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			text := time.Unix(seconds, 0).In(location)
			for part, layout := range map[string]string{"year": "2006", "month": "1", "day": "2", "hour": "15", "minute": "4", "second": "5", "yearday": "002"} {
				c, err := NewCalendar(part, zone)
				if err != nil {
					t.Fatal(err)
				}
				var out [1]float64
				c.Apply(c.In(seconds), out[:])
				want := 0.0
				for _, d := range text.Format(layout) {
					want = 10*want + float64(d-'0')
				}
				if out[0] != want {
					t.Fatalf("%s of %s: found %g, expected %g", part, text, out[0], want)
				}
			}
		}
	}
}

// Cycles are points on a circle, and a period later the same ones. Leap years have 366 days.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		part   string
		a, b   string
		sine   float64
		cosine float64
	}{
		{"month-cycle", "2024-01-31T00:00:00Z", "2025-01-01T00:00:00Z", 0, 1},
		{"month-cycle", "2024-04-01T00:00:00Z", "1931-04-30T23:59:59Z", 1, 0},
		{"weekday-cycle", "2024-04-01T00:00:00Z", "1969-12-29T00:00:00Z", 0, 1},
		{"hour-cycle", "1969-12-31T18:00:00Z", "2100-06-01T18:30:00Z", -1, 0},
		{"yearday-cycle", "2024-07-02T00:00:00Z", "2028-07-02T23:00:00Z", 0, -1},
	} {
		p, err := NewCalendar(c.part, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{c.a, c.b} {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			var out [2]float64
			if p.Apply(p.In(at.Unix()), out[:]); math.Hypot(out[0]-c.sine, out[1]-c.cosine) > 1e-12 {
				t.Errorf("%s of %s: found %g, expected %g and %g", c.part, text, out, c.sine, c.cosine)
			}
		}
	}
	for _, wrong := range [][2]string{{"years", ""}, {"year-cycle", ""}, {"-cycle", ""}, {"hour", "Mars/Olympus"}} {
		if _, err := NewCalendar(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v: expected an error", wrong)
		}
	}
}
