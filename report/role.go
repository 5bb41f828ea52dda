package report

import "fmt"

// role is how a series is drawn. page.css gives each role a colour for light and for dark mode, and dashes to the
// second half of the colours.
type role uint8

const (
	roleNone    role = iota // not drawn
	roleRest                // drawn in grey
	roleSeries0             // the first of seriesColours colours
)

const (
	// seriesColours is how many series of a plot have a colour of their own.
	seriesColours = 8
	// linesDrawn bounds the series of a plot: those with a colour and some in grey.
	linesDrawn = 40
)

// class is the CSS class of the role.
func (r role) class() string {
	switch r {
	case roleNone:
		return "none"
	case roleRest:
		return "rest"
	}
	return fmt.Sprintf("s%d", r-roleSeries0)
}
