package querying

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
)

// KeepsDatabase refuses an output that is or contains the file of a database.
func KeepsDatabase(out, address string) error {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return operation.Keeps(out, file)
	}
	return operation.Keeps(out)
}

// UsageOf turns an error about an address or options into a usage error.
func UsageOf(err error) error {
	if errors.Is(err, database.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	return err
}

// TablesFolder is the folder of the copies of tables for an output.
func TablesFolder(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	return filepath.Join(parent, "."+base+".tables")
}

// ScratchTables makes an empty folder for tables, and returns what removes it.
func ScratchTables(dir string) (done func() error, err error) {
	if err := vfs.OS.MkdirAll(dir); err != nil {
		return nil, err
	}
	unlock, err := vfs.OS.Lock(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: another run is writing it: %w", dir, err)
	}
	done = func() error { return errors.Join(vfs.OS.RemoveAll(dir), unlock()) }
	old, err := vfs.OS.ReadDir(dir)
	for _, e := range slices.DeleteFunc(old, func(e fs.DirEntry) bool {
		return !strings.HasSuffix(e.Name(), ".csv") && e.Name() != database.GraphFile
	}) {
		err = errors.Join(err, vfs.OS.Remove(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}
