package vfs

import (
	"errors"
	"math"
	"math/bits"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrSpace is the kind of the error of Room.
var ErrSpace = errors.New("disk too small")

// Room is an error where rows of width bytes do not fit on the disk of a folder. A caller asks before it writes what a number
// in a header or an option demands, such as a count of nodes. what names the rows in the error.
func Room(fsys FS, dir string, rows, width uint64, what string) error {
	free, err := fsys.Free(dir)
	if err != nil {
		return err
	}
	high, need := bits.Mul64(rows, width)
	if high > 0 || need > math.MaxInt64 {
		need = math.MaxInt64
	}
	if int64(need) > free {
		return tagged.Errorf(ErrSpace, "%s: found %s free, expected %s for %s; make room or choose another `Out`", dir, human.Bytes(free), human.Bytes(int64(need)), what)
	}
	return nil
}
