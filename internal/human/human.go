// Package human writes numbers for people: three significant digits and a prefix, in the same way on the terminal and
// on a page. Nothing that a program reads back is written with it.
package human

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Exact groups the digits of n: 67,108,864.
func Exact(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	return sign + group(s)
}

// ExactU is Exact for unsigned numbers.
func ExactU(n uint64) string { return group(strconv.FormatUint(n, 10)) }

func group(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Count is exact up to 9,999 and has three significant digits above: 67.1M.
func Count(n int64) string {
	if n < 0 {
		return "-" + CountU(uint64(-max(n, -math.MaxInt64)))
	}
	return CountU(uint64(n))
}

// CountU is Count for unsigned numbers.
func CountU(n uint64) string {
	if n < 10_000 {
		return ExactU(n)
	}
	return scaled(float64(n), 1000, []string{"", "k", "M", "G", "T", "P", "E"})
}

// Number is Count for any finite number. Small numbers keep three digits.
func Number(f float64) string {
	switch a := math.Abs(f); {
	case a != 0 && a < 0.001, a >= 1e21:
		return strconv.FormatFloat(f, 'e', 2, 64)
	case a < 1000:
		return digits(f)
	case f < 0:
		return "-" + Number(-f)
	default:
		return scaled(f, 1000, []string{"", "k", "M", "G", "T", "P", "E"})
	}
}

// Words is a number of any size as one reads it aloud: 8.85, 8,850, 885,000 or 67.1 million, with three significant digits.
func Words(f float64) string {
	a := math.Abs(f)
	if a < 999.5 {
		return digits(f)
	}
	if a < 999_500 {
		unit := math.Pow(10, math.Floor(math.Log10(a))-2)
		return Exact(int64(math.Round(f/unit) * unit))
	}
	for i, name := range []string{" million", " billion", " trillion"} {
		if unit := math.Pow(1000, float64(i+2)); a < 999.5*unit {
			return digits(f/unit) + name
		}
	}
	return strconv.FormatFloat(f, 'e', 2, 64)
}

// CountWords is exact up to 999,999, and Words above.
func CountWords(n int64) string {
	if n > -1_000_000 && n < 1_000_000 {
		return Exact(n)
	}
	return Words(float64(n))
}

// Speed is n things in d, in words: "8,850 graphs/s", "38.0 million edges/s" or, for the unit "bytes", "1.21 GiB/s". It is empty where d
// is not positive.
func Speed(n int64, d time.Duration, unit string) string {
	if d <= 0 || unit == "bytes" {
		return Rate(n, d, unit)
	}
	return strings.TrimSpace(Words(float64(n)/d.Seconds()) + " " + unit + "/s")
}

// AmountWords is n with its unit: "67.1 million edges" or, for the unit "bytes", "3.41 GiB".
func AmountWords(n int64, unit string) string {
	if unit == "bytes" {
		return Bytes(n)
	}
	return strings.TrimSpace(CountWords(n) + " " + unit)
}

// Tick is Number without trailing zeros after the point: 1, 20, 1.5k.
func Tick(f float64) string {
	s := Number(f)
	at := len(s)
	if !strings.ContainsRune(s, '.') {
		return s
	}
	if e := strings.IndexAny(s, "ekMGTPE"); e >= 0 {
		at = e
	}
	return strings.TrimSuffix(strings.TrimRight(s[:at], "0"), ".") + s[at:]
}

// Bytes is a size in powers of 1024: 3.41 GiB.
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(-max(n, -math.MaxInt64))
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return scaled(float64(n), 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"})
}

// Rate is n things in d: "38.0M edges/s" or, for the unit "bytes", "1.21 GiB/s". It is empty where d is not positive.
func Rate(n int64, d time.Duration, unit string) string {
	if d <= 0 {
		return ""
	}
	per := float64(n) / d.Seconds()
	if unit == "bytes" {
		return Bytes(int64(min(per, math.MaxInt64/2))) + "/s"
	}
	return strings.TrimSpace(Number(per) + " " + unit + "/s")
}

// Amount is n with its unit: "67.1M edges" or, for the unit "bytes", "3.41 GiB".
func Amount(n int64, unit string) string {
	switch unit {
	case "bytes":
		return Bytes(n)
	case "":
		return Count(n)
	}
	return Count(n) + " " + Things(n, unit)
}

// Ratio is a / b, or 0 if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Seconds is a number of seconds as a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Assigned is names with their numbers: "num_nodes=8,num_edges=16".
func Assigned(names []string, numbers []int) string {
	var list []string
	for i, name := range names {
		list = append(list, name+"="+strconv.Itoa(numbers[i]))
	}
	return strings.Join(list, ",")
}

// Counted is a number and a noun: "1 pack", "3,744 packs".
func Counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Exact(n) + " " + noun
}

// Duration is 850 µs, 412 ms, 4.21 s, 3 min 12 s or 2 h 05 min.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-max(d, -math.MaxInt64))
	case d == 0:
		return "0 s"
	case d < 999_500*time.Nanosecond:
		return digits(float64(d)/1e3) + " µs"
	case d < 999_500*time.Microsecond:
		return digits(float64(d)/1e6) + " ms"
	case d < 59_950*time.Millisecond:
		return digits(d.Seconds()) + " s"
	case d < time.Hour-500*time.Millisecond:
		s := int64(d.Round(time.Second) / time.Second)
		return strconv.FormatInt(s/60, 10) + " min " + two(s%60) + " s"
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return Exact(m/60) + " h " + two(m%60) + " min"
}

// Percent is a share of one: 12%, 0.4%, 0.003%. A share that is not 0 never reads as 0.
func Percent(f float64) string {
	p := f * 100
	switch a := math.Abs(p); {
	case a == 0:
		return "0%"
	case a >= 99.95 && a < 100:
		return ">99.9%"
	case a >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	case a < 1e-4:
		return strconv.FormatFloat(p, 'e', 0, 64) + "%"
	}
	return strconv.FormatFloat(p, 'g', 2, 64) + "%"
}

// Printable writes characters that a terminal or a page might act on (control characters, direction marks, bytes that
// are not UTF-8) as Go escapes.
func Printable(s string) string {
	ok := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			ok = false
			break
		}
	}
	if ok {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			q := strconv.QuoteToASCII(s[:n])
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// Cut shortens s to at most n runes. The last rune is then an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

func two(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// scaled divides by base until at most three digits are before the point.
func scaled(f, base float64, prefixes []string) string {
	i := 0
	for i+1 < len(prefixes) && f >= base-0.5 {
		f /= base
		i++
	}
	if i == 0 {
		return strconv.FormatFloat(f, 'f', 0, 64) + prefixes[0]
	}
	return digits(f) + prefixes[i]
}

// digits is f with three significant digits, and with all digits before the point.
func digits(f float64) string {
	switch a := math.Abs(f); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}
