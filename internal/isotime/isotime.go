package isotime

import "math"

// Time is a point in time: seconds since 1970-01-01T00:00:00Z, and nanoseconds from there on.
type Time struct {
	Seconds int64
	Nanos   int32
	// Digits is the number of digits of the fraction as it was written.
	Digits int
}

// Parse reads a text. It returns false if the text has another form, or names a day or time that does not exist.
func Parse(b []byte) (t Time, ok bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return t, false
	}
	century, ok1 := two(b)
	years, ok2 := two(b[2:])
	year := 100*century + years
	month, ok3 := two(b[5:])
	day, ok4 := two(b[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return t, false
	}
	t.Seconds = days(year, month, day) * 86400
	if b = b[10:]; len(b) == 0 {
		return t, true
	}
	if b[0] != 'T' && b[0] != ' ' && b[0] != 't' || len(b) < 6 || b[3] != ':' {
		return t, false
	}
	hour, ok1 := two(b[1:])
	minute, ok2 := two(b[4:])
	if !ok1 || !ok2 || hour > 23 || minute > 59 {
		return t, false
	}
	t.Seconds += 3600*hour + 60*minute
	if b = b[6:]; len(b) >= 3 && b[0] == ':' {
		second, ok := two(b[1:])
		if !ok || second > 59 {
			return t, false
		}
		t.Seconds += second
		if b = b[3:]; len(b) > 0 && (b[0] == '.' || b[0] == ',') {
			if b, ok = t.fraction(b[1:]); !ok {
				return t, false
			}
		}
	}
	offset, ok := zone(b)
	t.Seconds -= offset
	return t, ok
}

// fraction reads the digits of a fraction, of which there is one at least, and returns the rest of the text.
func (t *Time) fraction(b []byte) (rest []byte, ok bool) {
	n, v := 0, int32(0)
	for n < len(b) && b[n]-'0' <= 9 {
		if n == 9 {
			return nil, false
		}
		v = 10*v + int32(b[n]-'0')
		n++
	}
	t.Digits = n
	for range 9 - n {
		v *= 10
	}
	t.Nanos = v
	return b[n:], n > 0
}

// zone returns the seconds by which a zone is ahead of UTC: "", "Z", "+02", "+0200" or "+02:00".
func zone(b []byte) (seconds int64, ok bool) {
	if len(b) == 0 || len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 3 {
		return 0, false
	}
	hours, ok := two(b[1:])
	minutes, good := int64(0), true
	switch {
	case len(b) == 3:
	case len(b) == 5:
		minutes, good = two(b[3:])
	case len(b) == 6 && b[3] == ':':
		minutes, good = two(b[4:])
	default:
		return 0, false
	}
	seconds = 3600*hours + 60*minutes
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok && good && hours <= 23 && minutes <= 59
}

// In returns the number of units since 1970-01-01T00:00:00Z, for a unit of which a second has perSecond: 1, 1e3, 1e6 or
// 1e9. It is rounded down; exact says whether nothing was lost. fits says whether int64 has the number.
func (t Time) In(perSecond int64) (v int64, exact, fits bool) {
	nanos := 1e9 / perSecond
	part := int64(t.Nanos) / nanos
	exact = int64(t.Nanos)%nanos == 0
	s := t.Seconds
	if s < 0 && part > 0 { // the product may be below the least number where the sum is not
		s, part = s+1, part-perSecond
	}
	if s > math.MaxInt64/perSecond || s < math.MinInt64/perSecond {
		return 0, exact, false
	}
	v = s * perSecond
	if part > 0 && v > math.MaxInt64-part || part < 0 && v < math.MinInt64-part {
		return 0, exact, false
	}
	return v + part, exact, true
}

// PerSecond is the coarsest of 1, 1e3, 1e6 and 1e9 units per second in which a fraction of so many digits is whole.
func PerSecond(digits int) int64 {
	switch {
	case digits == 0:
		return 1
	case digits <= 3:
		return 1e3
	case digits <= 6:
		return 1e6
	}
	return 1e9
}

// Needs returns PerSecond for the digits of the fraction that are not zeros at its end.
func (t Time) Needs() int64 {
	for _, per := range []int64{1, 1e3, 1e6} {
		if _, exact, _ := t.In(per); exact {
			return per
		}
	}
	return 1e9
}

// two reads two digits.
func two(b []byte) (int64, bool) {
	x, y := b[0]-'0', b[1]-'0'
	return 10*int64(x) + int64(y), x <= 9 && y <= 9
}

func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// days returns the number of days since 1970-01-01. Years begin in March, so that the leap day is the last of one.
func days(year, month, day int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	era := year / 400
	if year < 0 {
		era = -1
	}
	of := year - 400*era // year of the era, 0 to 399
	return 146097*era + 365*of + of/4 - of/100 + (153*(month-3)+2)/5 + day - 1 - 719468
}
