package lines

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Input is the name of the input in errors.
const Input = "standard input"

// Text is a text in which the places of rows in files of the batch are those of their lines.
func (b *Batch) Text(text string) string {
	if !strings.Contains(text, b.dir) {
		return text
	}
	file := regexp.MustCompile(regexp.QuoteMeta(b.dir+string(filepath.Separator)) + `([0-9]+-[0-9]+(?:\.last)?\.jsonl)(?::(\d+))?(?::\d+)?`)
	return file.ReplaceAllStringFunc(text, func(found string) string {
		m := file.FindStringSubmatch(found)
		if row, err := strconv.Atoi(m[2]); err == nil {
			if number := b.numberOf(m[1], row); number > 0 {
				return fmt.Sprintf("%s:%d", Input, number)
			}
		}
		return Input
	})
}

// In is an error whose text names lines. An error of the disk names the file of the batch.
func (b *Batch) In(err error) error {
	if disk := (*fs.PathError)(nil); err == nil || errors.As(err, &disk) {
		return err
	}
	return &placedError{b.Text(err.Error()), err}
}

// placedError is an error with another text.
type placedError struct {
	text string
	err  error
}

// Error implements error.
func (e *placedError) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *placedError) Unwrap() error { return e.err }
