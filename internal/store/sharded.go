package store

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A file of an output can be stored in shards, which have its bytes one after the other: NAME.00000-of-00003 and so on, in the manifest in its place. Their sizes are
// multiples of limits.ShardAlign, except the last one. So several machines can each write a part of a large file, and no reader needs to know.

var shardPattern = regexp.MustCompile(`^(.+)\.(\d{5,})-of-(\d{5,})$`)

// shardName is the name of shard i of the n of a file.
func shardName(name string, i, n int) string {
	return fmt.Sprintf("%s.%05d-of-%05d", name, i, n)
}

// shardOf is the file that a name of a manifest is a shard of.
func shardOf(shard string) (name string, i, n int, ok bool) {
	m := shardPattern.FindStringSubmatch(shard)
	if m == nil {
		return "", 0, 0, false
	}
	i, err := strconv.Atoi(m[2])
	n, err2 := strconv.Atoi(m[3])
	return m[1], i, n, err == nil && err2 == nil && shardName(m[1], i, n) == shard
}

// FileOf is the file, as metadata name it, that a file of a manifest is, or is a shard of.
func FileOf(name string) string {
	if file, _, _, ok := shardOf(name); ok {
		return file
	}
	return name
}

// shards are the names of the shards of each file that has any.
func (m *Manifest) shards() (map[string][]string, error) {
	files, want := map[string][]string{}, map[string]int{}
	for _, shard := range slices.Sorted(maps.Keys(m.Files)) { // in the order of their numbers
		name, i, n, ok := shardOf(shard)
		if !ok {
			continue
		}
		if _, whole := m.Files[name]; whole {
			return nil, fmt.Errorf("found %s beside its shard %s, expected one of them; copy the folder again", name, shard)
		}
		if have := len(files[name]); have > 0 && n != want[name] || i != have || i >= n {
			return nil, fmt.Errorf("found %s after %d shards of %s, expected number %d; copy the folder again", shard, have, name, have)
		}
		files[name], want[name] = append(files[name], shard), n
	}
	for name, list := range files {
		if len(list) != want[name] {
			return nil, fmt.Errorf("found %d shards of %s, expected %d; copy the folder again", len(list), name, want[name])
		}
	}
	return files, nil
}

// format is the version of the manifest.
func (m *Manifest) format() int {
	for name := range m.Files {
		if _, _, _, ok := shardOf(name); ok {
			return ShardedManifestFormat
		}
	}
	return ManifestFormat
}

// shardsIn are the shards of the files of the folder dir, by the paths of the files.
func (m *Manifest) shardsIn(dir string) (map[string][]vfs.Shard, error) {
	names, err := m.shards()
	files := map[string][]vfs.Shard{}
	for name, shards := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		for _, shard := range shards {
			files[path] = append(files[path], vfs.Shard{Path: filepath.Join(dir, filepath.FromSlash(shard)), Bytes: m.Files[shard].Bytes})
		}
	}
	return files, err
}
