package workfolder

import (
	"encoding/json"
	"fmt"

	"github.com/graphmill/graphmill/internal/vfs"
)

// maxJSON bounds the files of ReadJSON: one can name all files that a task wrote.
const maxJSON = 64 << 20

// WriteJSON makes a whole file of a value (vfs.WriteWhole).
func WriteJSON(fsys vfs.FS, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxJSON {
		return fmt.Errorf("%s: found %d bytes about a task, expected at most %d; divide the output into more shards", name, len(b), maxJSON)
	}
	return vfs.WriteWhole(fsys, name, func(f vfs.File) error {
		_, err := f.Write(b)
		return err
	})
}

// ReadJSON reads a value that WriteJSON wrote.
func ReadJSON(fsys vfs.FS, name string, v any) error {
	b, err := vfs.ReadFile(fsys, name, maxJSON)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
