package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

type linearRGB [3]float64

func parseColour(hex string) (c linearRGB) {
	if len(hex) == 3 {
		hex = strings.Repeat(hex[:1], 2) + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:], 2)
	}
	for i := range c {
		v, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if s := float64(v) / 255; s <= 0.04045 {
			c[i] = s / 12.92
		} else {
			c[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return c
}

func (c linearRGB) times(m [3][3]float64) (out linearRGB) {
	for i := range out {
		out[i] = m[i][0]*c[0] + m[i][1]*c[1] + m[i][2]*c[2]
	}
	return out
}

// oklab is a space where distances are about as large as they look, in hundredths (Ottosson 2020).
func (c linearRGB) oklab() linearRGB {
	lms := c.times([3][3]float64{{0.4122214708, 0.5363325363, 0.0514459929}, {0.2119034982, 0.6806995451, 0.1073969566}, {0.0883024619, 0.2817188376, 0.6299787005}})
	for i := range lms {
		lms[i] = 100 * math.Cbrt(lms[i])
	}
	return lms.times([3][3]float64{{0.2104542553, 0.7936177850, -0.0040720468}, {1.9779984951, -2.4285922050, 0.4505937099}, {0.0259040371, 0.7827717662, -0.8086757660}})
}

func distance(a, b linearRGB) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

func (c linearRGB) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// blindness simulates colour vision deficiencies of full severity (Machado, Oliveira, Fernandes 2009).
var blindness = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func (c linearRGB) seenWith(m [3][3]float64) linearRGB {
	out := c.times(m)
	for i := range out {
		out[i] = min(max(out[i], 0), 1)
	}
	return out.oklab()
}

// Series stand out from the page and differ for colour-blind readers; the colours of heat maps go from dark to pale
// or from pale to dark.
func TestColours(t *testing.T) {
	light, dark, ok := strings.Cut(pageStyle, "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("found no dark mode")
	}
	for mode, css := range map[string]string{"light": light, "dark": dark} {
		colour := func(name string) linearRGB {
			m := regexp.MustCompile(`--` + name + `: #([0-9a-f]{6}|[0-9a-f]{3});`).FindStringSubmatch(css)
			if m == nil {
				t.Fatalf("%s: found no colour %q", mode, name)
			}
			return parseColour(m[1])
		}
		card := colour("card").luminance() + 0.05
		for i := range seriesColours {
			a := colour(fmt.Sprintf("s%d", i))
			// WCAG 2.1 asks for a contrast of 3 for graphics.
			if l := a.luminance() + 0.05; max(l/card, card/l) < 3 {
				t.Errorf("%s: colour %d has a contrast of %.1f to the page, expected 3 or more", mode, i, max(l/card, card/l))
			}
			for j := range i {
				for kind, m := range blindness {
					if d := distance(a.seenWith(m), colour(fmt.Sprintf("s%d", j)).seenWith(m)); d < 8 {
						t.Errorf("%s: colours %d and %d are %.1f apart with blindness %s, expected 8 or more", mode, j, i, d, kind)
					}
				}
			}
		}
		sign := colour("h9").oklab()[0] - colour("h0").oklab()[0]
		for i := 1; i < heatLevels; i++ {
			a, b := colour(fmt.Sprintf("h%d", i-1)).oklab()[0], colour(fmt.Sprintf("h%d", i)).oklab()[0]
			if (b-a)*sign <= 0 || math.Abs(b-a) < 2 {
				t.Errorf("%s: heat map colours %d and %d have lightness %.0f and %.0f", mode, i-1, i, a, b)
			}
		}
	}
}
