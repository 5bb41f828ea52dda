package database

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Places names what the files of a folder are copies of. nil names nothing.
type Places struct {
	// Dir is the folder.
	Dir string
	// Of has the place of each file, by its name.
	Of map[string]string
	// Order names what the rows are sorted by, for errors.
	Order string
}

// Text is a text in which the files of the folder are replaced by their places.
func (p *Places) Text(text string) string {
	if p == nil {
		return text
	}
	file := regexp.MustCompile(regexp.QuoteMeta(p.Dir+string(filepath.Separator)) + `([^:/]+?\.csv|graph\.yaml)(:\d+)?(:\d+)?`)
	return file.ReplaceAllStringFunc(text, func(found string) string {
		m := file.FindStringSubmatch(found)
		place, ok := p.Of[m[1]]
		if !ok {
			return found
		}
		if line := strings.TrimPrefix(m[2], ":"); line != "" && m[1] != GraphFile {
			place += ", line " + line + " of its copy in the order of " + p.Order
		}
		return place
	})
}

// In is an error whose text names the places.
func (p *Places) In(err error) error {
	if err == nil || p == nil {
		return err
	}
	return &placedError{p, err}
}

type placedError struct {
	places *Places
	err    error
}

// Error implements error.
func (e *placedError) Error() string { return e.places.Text(e.err.Error()) }

// Unwrap returns the error itself.
func (e *placedError) Unwrap() error { return e.err }

// Places are the places of the files that Extract wrote to a folder, for a database by its name.
func (e *Extracted) Places(name, dir string) *Places {
	p := &Places{dir, map[string]string{GraphFile: name}, "the key"}
	for file, table := range e.names {
		p.Of[file] = name + ", table " + table
	}
	return p
}
