package features

import (
	"fmt"
	"math"
	"strings"
	"time"
	_ "time/tzdata" // zones do not depend on the machine
)

// cycles are the parts of a time that come again: the number of the first one, and the period.
var cycles = map[string][2]int{"month": {1, 12}, "day": {1, 31}, "weekday": {0, 7}, "hour": {0, 24}, "minute": {0, 60}, "yearday": {1, 365}}

// CalendarParts are the parts of a time; each of month, day, weekday, hour, minute and yearday followed by "-cycle" is the sine and cosine of its place in its period.
var CalendarParts = []string{"year", "quarter", "month", "day", "weekday", "hour", "minute", "second", "yearday", "isoweek", "weekend"}

// Calendar is a part of times in a zone.
type Calendar struct {
	part   string
	zone   *time.Location
	circle [][2]float64 // of a cycle: sine and cosine by the number of the part
	leap   [][2]float64 // of yearday, in years of 366 days
}

// NewCalendar returns a part of times. The zone is a name of the IANA time zone database, and "" is UTC.
func NewCalendar(part, zone string) (Calendar, error) {
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return Calendar{}, fmt.Errorf("found time zone %q, expected a name such as Europe/Berlin", zone)
	}
	c := Calendar{part: part, zone: location}
	if base, is := strings.CutSuffix(part, "-cycle"); is {
		cycle, has := cycles[base]
		if !has {
			return Calendar{}, fmt.Errorf("found part %q, expected a cycle of month, day, weekday, hour, minute or yearday", part)
		}
		c.part, c.circle = base, circleOf(cycle[0], cycle[1])
		if base == "yearday" {
			c.leap = circleOf(cycle[0], cycle[1]+1)
		}
		return c, nil
	}
	for _, known := range CalendarParts {
		if part == known {
			return c, nil
		}
	}
	return Calendar{}, fmt.Errorf("found part %q, expected one of %s, or one of them with -cycle", part, strings.Join(CalendarParts, ", "))
}

// circleOf is the sine and cosine of the numbers from first on, of a period.
func circleOf(first, period int) [][2]float64 {
	circle := make([][2]float64, first+period)
	for v := first; v < first+period; v++ {
		circle[v][0], circle[v][1] = math.Sincos(2 * math.Pi * float64(v-first) / float64(period))
	}
	return circle
}

// Cycle says whether the part is two numbers on a circle.
func (c *Calendar) Cycle() bool { return c.circle != nil }

// Width is how many numbers a part has.
func (c *Calendar) Width() int {
	if c.Cycle() {
		return 2
	}
	return 1
}

// In is the time of seconds since 1970-01-01T00:00:00Z in the zone of the part.
func (c *Calendar) In(seconds int64) time.Time { return time.Unix(seconds, 0).In(c.zone) }

// Apply writes the numbers of a time in the zone to out.
func (c *Calendar) Apply(t time.Time, out []float64) {
	v := c.number(t)
	switch {
	case c.circle == nil:
		out[0] = float64(v)
	case c.leap != nil && time.Date(t.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay() == 366:
		out[0], out[1] = c.leap[v][0], c.leap[v][1]
	default:
		out[0], out[1] = c.circle[v][0], c.circle[v][1]
	}
}

// number is the number of the part in a time.
func (c *Calendar) number(t time.Time) int {
	switch c.part {
	case "year":
		return t.Year()
	case "quarter":
		return (int(t.Month()) + 2) / 3
	case "month":
		return int(t.Month())
	case "day":
		return t.Day()
	case "weekday": // from Monday
		return (int(t.Weekday()) + 6) % 7
	case "hour":
		return t.Hour()
	case "minute":
		return t.Minute()
	case "second":
		return t.Second()
	case "yearday":
		return t.YearDay()
	case "isoweek":
		_, week := t.ISOWeek()
		return week
	}
	if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
		return 1 // weekend
	}
	return 0
}
