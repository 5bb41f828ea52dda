package human

import (
	"math"
	"testing"
	"time"
)

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{List(nil), ""},
		{List([]int{7}), "7"},
		{List([]int{0, 1, 12}), "0, 1, 12"},
		{List([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"},
		{List([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"},
		{Exact(0), "0"},
		{Exact(999), "999"},
		{Exact(-1234567), "-1,234,567"},
		{Exact(math.MinInt64), "-9,223,372,036,854,775,808"},
		{ExactU(math.MaxUint64), "18,446,744,073,709,551,615"},
		{Count(0), "0"},
		{Count(9_999), "9,999"},
		{Count(10_000), "10.0k"},
		{Count(999_499), "999k"},
		{Count(999_999), "1.00M"},
		{Count(67_108_864), "67.1M"},
		{Count(-67_108_864), "-67.1M"},
		{Count(math.MinInt64), "-9.22E"},
		{CountU(math.MaxUint64), "18.4E"},
		{Number(0), "0"},
		{Number(0.00001), "1.00e-05"},
		{Number(0.5), "0.5"},
		{Number(12.345), "12.3"},
		{Number(-123456), "-123k"},
		{Number(1e300), "1.00e+300"},
		{Tick(0), "0"},
		{Tick(1), "1"},
		{Tick(100), "100"},
		{Tick(2000), "2k"},
		{Tick(1_500_000), "1.5M"},
		{Tick(1e30), "1e+30"},
		{Bytes(0), "0 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1024), "1.00 KiB"},
		{Bytes(1<<20 - 1), "1.00 MiB"},
		{Bytes(3_661_000_000), "3.41 GiB"},
		{Bytes(-2048), "-2.00 KiB"},
		{Bytes(math.MinInt64), "-8.00 EiB"},
		{Rate(67_108_864, 2*time.Second, "edges"), "33.6M edges/s"},
		{Rate(1<<30, time.Second, "bytes"), "1.00 GiB/s"},
		{Rate(5, 0, "edges"), ""},
		{Amount(12, ""), "12"},
		{Amount(12_000, "rows"), "12.0k rows"},
		{Amount(4096, "bytes"), "4.00 KiB"},
		{Duration(0), "0 s"},
		{Duration(850 * time.Nanosecond), "0.85 µs"},
		{Duration(850 * time.Microsecond), "850 µs"},
		{Duration(412 * time.Millisecond), "412 ms"},
		{Duration(999_900 * time.Microsecond), "1.00 s"},
		{Duration(4210 * time.Millisecond), "4.21 s"},
		{Duration(59_990 * time.Millisecond), "1 min 00 s"},
		{Duration(192 * time.Second), "3 min 12 s"},
		{Duration(time.Hour - time.Millisecond), "1 h 00 min"},
		{Duration(125 * time.Minute), "2 h 05 min"},
		{Duration(-time.Second), "-1.00 s"},
		{Percent(0), "0%"},
		{Percent(0.12), "12%"},
		{Percent(0.125), "12.5%"},
		{Percent(0.004), "0.4%"},
		{Percent(0.9999), ">99.9%"},
		{Percent(1), "100%"},
		{Percent(1e-9), "1e-07%"},
		{Printable("naïve ∀ name"), "naïve ∀ name"},
		{Printable("a\x1b[31mb\x00\xff\n\u202e"), `a\x1b[31mb\x00\xff\n\u202e`},
		{Printable("\ufffd"), "\ufffd"},
		{Cut("abcdef", 6), "abcdef"},
		{Cut("abcdef", 4), "abc…"},
		{Cut("ab", 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 8.849: "8.85", 14.72: "14.7", 999.4: "999", 999.6: "1,000", 8849.7: "8,850", 104_321: "104,000", 999_499: "999,000", 999_501: "1.00 million",
		67_108_864: "67.1 million", 3.456e9: "3.46 billion", 2e12: "2.00 trillion", 5e15: "5.00e+15", -8849.7: "-8,850",
	} {
		if got := Words(f); got != want {
			t.Errorf("%v: found %q, expected %q", f, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999_999: "999,999", 1_000_000: "1.00 million", -5: "-5"} {
		if got := CountWords(n); got != want {
			t.Errorf("%v: found %q, expected %q", n, got, want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{Speed(8849, time.Second, "graphs"), "8,850 graphs/s"},
		{Speed(1<<30, time.Second, "bytes"), "1.00 GiB/s"},
		{Speed(5, 0, "graphs"), ""},
		{AmountWords(67_108_864, "edges"), "67.1 million edges"},
		{AmountWords(1<<20, "bytes"), "1.00 MiB"},
		{AmountWords(4, ""), "4"},
	} {
		if c.got != c.want {
			t.Errorf("found %q, expected %q", c.got, c.want)
		}
	}
}
