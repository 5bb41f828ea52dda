package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plots are drawn in placeholder colours. inline replaces each by the CSS
// variable of its role, which the page sets for light and dark mode.
type role uint8

const (
	roleNone role = iota // not drawn
	roleText
	roleGrid
	roleRest // drawn, without a colour of its own
	roleSeries0
)

// seriesColours is how many series have a colour of their own.
const seriesColours = 8

func (r role) color() color.RGBA { return color.RGBA{R: 0xFA, G: 0xCE, B: uint8(r), A: 0xFF} }

// soft is the colour of an area under a line.
func (r role) soft() color.RGBA { return color.RGBA{R: 0x50, G: 0xF7, B: uint8(r), A: 0xFF} }

// shade is the colour of a level of a heat map.
func shade(level int) color.RGBA { return color.RGBA{R: 0x4E, G: 0xA7, B: uint8(level), A: 0xFF} }

func (r role) variable() string {
	switch r {
	case roleText:
		return "var(--soft)"
	case roleGrid:
		return "var(--grid)"
	case roleRest:
		return "var(--rest)"
	}
	return fmt.Sprintf("var(--s%d)", r-roleSeries0)
}

// paint is the declaration of a placeholder, for the property key.
func paint(key, placeholder string) (string, error) {
	for r := roleText; r < roleSeries0+seriesColours; r++ {
		switch placeholder {
		case hex(r.color()):
			return key + ":" + r.variable(), nil
		case hex(r.soft()):
			return key + ":" + r.variable() + ";fill-opacity:.15", nil
		}
	}
	for i := range heatLevels {
		if placeholder == hex(shade(i)) {
			return fmt.Sprintf("%s:%s;fill-opacity:%.2g", key, roleSeries0.variable(), 0.06+0.94*float64(i)/(heatLevels-1)), nil
		}
	}
	return "", fmt.Errorf("found the colour %s, expected one of a role", placeholder)
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// inline turns what vgsvg drew into an element for the page: no prologue, no
// size but the view box, colours by role, the page's font. Elements and
// attributes that plots do not need are an error, so nothing else can get in.
func inline(c *vgsvg.Canvas, label string) (string, error) {
	var drawn bytes.Buffer
	if _, err := c.WriteTo(&drawn); err != nil {
		return "", err
	}
	dec := xml.NewDecoder(&drawn)
	var b strings.Builder
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if err := startElement(&b, t, label); err != nil {
				return "", err
			}
		case xml.EndElement:
			b.WriteString("</" + t.Name.Local + ">")
		case xml.CharData:
			if s := strings.TrimSpace(string(t)); s != "" {
				b.WriteString(html.EscapeString(s))
			}
		}
	}
}

func startElement(b *strings.Builder, t xml.StartElement, label string) error {
	switch t.Name.Local {
	case "svg":
		b.WriteString(`<svg role="img" focusable="false" aria-label="` + html.EscapeString(label) + `"`)
	case "g", "path", "text":
		b.WriteString("<" + t.Name.Local)
	default:
		return fmt.Errorf("found the SVG element %q, expected svg, g, path or text", t.Name.Local)
	}
	for _, a := range t.Attr {
		v := a.Value
		switch a.Name.Local {
		case "width", "height", "xmlns", "xlink":
			continue
		case "style":
			var err error
			if v, err = styleOf(v); err != nil {
				return err
			}
			if v == "" {
				continue
			}
		case "viewBox", "transform", "d", "x", "y":
		default:
			return fmt.Errorf("found the SVG attribute %q, expected those of paths and text", a.Name.Local)
		}
		b.WriteString(" " + a.Name.Local + `="` + html.EscapeString(v) + `"`)
	}
	b.WriteByte('>')
	return nil
}

func styleOf(style string) (string, error) {
	var keep []string
	for decl := range strings.SplitSeq(style, ";") {
		key, value, _ := strings.Cut(decl, ":")
		switch {
		case strings.HasPrefix(key, "font-"), key == "":
			continue
		case strings.HasPrefix(value, "#"):
			var err error
			if decl, err = paint(key, value); err != nil {
				return "", err
			}
		}
		keep = append(keep, decl)
	}
	return strings.Join(keep, ";"), nil
}

// newCanvas is an SVG canvas of a size in points, which are the page's pixels.
func newCanvas(w, h float64) *vgsvg.Canvas { return vgsvg.New(vg.Length(w), vg.Length(h)) }
