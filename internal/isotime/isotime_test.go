package isotime

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1970-01-01":                          "0 0",
		"1969-12-31":                          "-86400 0",
		"2024-02-29":                          "1709164800 0",
		"2000-02-29":                          "951782400 0",
		"0000-01-01":                          "-62167219200 0",
		"9999-12-31T23:59:59.999999999Z":      "253402300799 999999999",
		"2024-02-29T13:45":                    "1709214300 0",
		"2024-02-29 13:45:07":                 "1709214307 0",
		"2024-02-29t13:45:07z":                "1709214307 0",
		"2024-02-29T13:45:07.25":              "1709214307 250000000",
		"2024-02-29T13:45:07,25":              "1709214307 250000000",
		"2024-02-29T13:45+02:00":              "1709207100 0",
		"2024-02-29T13:45:07+0200":            "1709207107 0",
		"2024-02-29T13:45:07-0530":            "1709234107 0",
		"2024-02-29T13:45:07+02":              "1709207107 0",
		"1969-12-31T23:59:59.5":               "-1 500000000",
		"":                                    "no",
		"2024":                                "no",
		"2024-2-29":                           "no",
		"2024-02-30":                          "no",
		"1900-02-29":                          "no",
		"2024-04-31":                          "no",
		"2024-13-01":                          "no",
		"2024-00-01":                          "no",
		"2024-01-00":                          "no",
		"2024-01-01T":                         "no",
		"2024-01-01 1":                        "no",
		"2024-01-01T24:00":                    "no",
		"2024-01-01T23:60":                    "no",
		"2024-01-01T23:59:60":                 "no",
		"2024-01-01T23:59:5":                  "no",
		"2024-01-01T23:59:59.":                "no",
		"2024-01-01T23:59:59.1234567890":      "no",
		"2024-01-01T23:59:59 +02:00":          "no",
		"2024-01-01T23:59:59+2":               "no",
		"2024-01-01T23:59:59+02:0":            "no",
		"2024-01-01T23:59:59+02:60":           "no",
		"2024-01-01T23:59:59+24:00":           "no",
		"2024-01-01Z":                         "no",
		"2024/01/01":                          "no",
		" 2024-01-01":                         "no",
		"2024-01-01 ":                         "no",
		"20240101":                            "no",
		"2024-01-01T00:00:00Zulu":             "no",
		"+2024-01-01":                         "no",
		"2024-01-01T00:00:00\u2009":           "no",
		"\xff\xff\xff\xff-\xff\xff-\xff\xff0": "no",
	} {
		got := "no"
		if v, ok := Parse([]byte(text)); ok {
			got = fmt.Sprint(v.Seconds, v.Nanos)
		}
		if got != want {
			t.Errorf("%q: found %s, want %s", text, got, want)
		}
	}
}

// layouts are the forms in Go's notation.
func layouts() (all []string) {
	for _, zone := range []string{"", "Z07", "Z0700", "Z07:00"} {
		for _, t := range []string{"T", " "} {
			for _, clock := range []string{"15:04", "15:04:05", "15:04:05.000", "15:04:05.000000", "15:04:05.000000000", "15:04:05.999999999"} {
				all = append(all, "2006-01-02"+t+clock+zone)
			}
		}
	}
	return append(all, "2006-01-02")
}

// What package time writes in any of the forms is read as the same time.
func TestParseEqualsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(-62167219200+86400, 253402300799-86400).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).In(zone)
		layout := rapid.SampledFrom(layouts()).Draw(t, "layout")
		if strings.HasSuffix(layout, "Z07") { // it would lose the minutes
			at = at.In(time.FixedZone("", 3600*rapid.IntRange(-23, 23).Draw(t, "hours")))
		}
		text := at.Format(layout)
		want, err := time.Parse(layout, text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Parse([]byte(text))
		if !ok || got.Seconds != want.Unix() || int(got.Nanos) != want.Nanosecond() {
			t.Fatalf("%q: found %v %v, want %d %d", text, got, ok, want.Unix(), want.Nanosecond())
		}
	})
}

func TestIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Time{Seconds: rapid.OneOf(rapid.Int64(), rapid.Int64Range(-9223372037, -9223372035), rapid.Int64Range(9223372035, 9223372037)).Draw(t, "seconds"), Nanos: rapid.Int32Range(0, 999999999).Draw(t, "nanos")}
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(t, "per second")
		nanos := new(big.Int).Add(new(big.Int).Mul(big.NewInt(x.Seconds), big.NewInt(1e9)), big.NewInt(int64(x.Nanos)))
		want, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9/per), new(big.Int))
		v, exact, fits := x.In(per)
		if fits != want.IsInt64() || fits && v != want.Int64() || exact != (rest.Sign() == 0) {
			t.Fatalf("%v in %d: found %d %v %v, want %s rest %s", x, per, v, exact, fits, want, rest)
		}
	})
	if v, _, fits := (Time{Seconds: -9223372037, Nanos: 145224192}).In(1e9); !fits || v != math.MinInt64 {
		t.Fatalf("found %d %v, want the least number", v, fits)
	}
}

func TestNeeds(t *testing.T) {
	for nanos, want := range map[int32]int64{0: 1, 500e6: 1e3, 1e6: 1e3, 1e3: 1e6, 120e3: 1e6, 1: 1e9, 999999999: 1e9} {
		if got := (Time{Nanos: nanos}).Needs(); got != want {
			t.Errorf("%d ns: found %d, want %d", nanos, got, want)
		}
	}
	for digits, want := range []int64{1, 1e3, 1e3, 1e3, 1e6, 1e6, 1e6, 1e9, 1e9, 1e9} {
		if got := PerSecond(digits); got != want {
			t.Errorf("%d digits: found %d, want %d", digits, got, want)
		}
	}
}

// A text is accepted only if package time reads the same from it in one of the forms.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"2024-02-29", "2024-02-29T13:45:07.25+02:00", "2024-02-29 13:45", "0000-01-01T00:00:00,1-0530", "9999-12-31 23:59:59.999999999Z"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			got, ok := Parse(b)
			text := strings.ReplaceAll(string(b), ",", ".")
			if len(text) > 10 && text[10] == 't' {
				text = text[:10] + "T" + text[11:]
			}
			text = strings.Replace(text, "z", "Z", 1)
			for _, layout := range layouts() {
				want, err := time.Parse(layout, text)
				if err != nil {
					continue
				}
				if ok && want.Unix() == got.Seconds && want.Nanosecond() == int(got.Nanos) {
					return
				}
			}
			if ok {
				t.Fatalf("%q: read as %v, which package time reads in no form", b, got)
			}
		})
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte("2024-02-29T13:45:07.250+02:00")
	for b.Loop() {
		if _, ok := Parse(text); !ok {
			b.Fatal("not read")
		}
	}
}
