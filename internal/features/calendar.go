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
	part  string
	cycle bool
	zone  *time.Location
}

// NewCalendar returns a part of times. The zone is a name of the IANA time zone database, and "" is UTC.
func NewCalendar(part, zone string) (Calendar, error) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		return Calendar{}, fmt.Errorf("found time zone %q, expected a name such as Europe/Berlin", zone)
	}
	c := Calendar{part: part, zone: location}
	if base, is := strings.CutSuffix(part, "-cycle"); is {
		if _, has := cycles[base]; !has {
			return Calendar{}, fmt.Errorf("found part %q, expected a cycle of month, day, weekday, hour, minute or yearday", part)
		}
		c.part, c.cycle = base, true
		return c, nil
	}
	for _, known := range CalendarParts {
		if part == known {
			return c, nil
		}
	}
	return Calendar{}, fmt.Errorf("found part %q, expected one of %s, or one of them with -cycle", part, strings.Join(CalendarParts, ", "))
}

// Width is how many numbers a part has.
func (c *Calendar) Width() int {
	if c.cycle {
		return 2
	}
	return 1
}

// Apply writes the numbers of a time, in seconds since 1970-01-01T00:00:00Z, to out.
func (c *Calendar) Apply(seconds int64, out []float64) {
	t := time.Unix(seconds, 0).In(c.zone)
	v := 0
	switch c.part {
	case "year":
		v = t.Year()
	case "quarter":
		v = (int(t.Month()) + 2) / 3
	case "month":
		v = int(t.Month())
	case "day":
		v = t.Day()
	case "weekday": // from Monday
		v = (int(t.Weekday()) + 6) % 7
	case "hour":
		v = t.Hour()
	case "minute":
		v = t.Minute()
	case "second":
		v = t.Second()
	case "yearday":
		v = t.YearDay()
	case "isoweek":
		_, v = t.ISOWeek()
	case "weekend":
		if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
			v = 1
		}
	}
	if !c.cycle {
		out[0] = float64(v)
		return
	}
	first, period := cycles[c.part][0], cycles[c.part][1]
	if c.part == "yearday" && time.Date(t.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay() == 366 {
		period++
	}
	out[0], out[1] = math.Sincos(2 * math.Pi * float64(v-first) / float64(period))
}
