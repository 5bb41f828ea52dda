package vfs

import (
	"errors"
	"os"
	"slices"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Link implements FS.
func (osFS) Link(oldname, newname string) error {
	err := os.Link(oldname, newname)
	if err != nil && slices.ContainsFunc(linkless, func(e error) bool { return errors.Is(err, e) }) {
		return tagged.Errorf(errors.ErrUnsupported, "%w", err)
	}
	return err
}
