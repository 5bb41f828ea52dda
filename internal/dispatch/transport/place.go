package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// place is one machine and the files that it gets.
type place struct {
	host  string
	parts []int
	files []file // in the order of sending: the configs are last
	// manifest and sum are the contents of the manifest and of its checksum file.
	manifest, sum []byte
}

// file is a file of a partitioned folder.
type file struct {
	name string // relative to the folder, with '/'
	part int    // noPart for a config
	want store.ManifestFor
}

const noPart = -1

// maxJSON bounds the size of the JSON files of a partitioned folder.
const maxJSON = 256 << 20

// placesOf divides the files of a partitioned folder over machines. own is the manifest of the folder itself,
// empty if it has none, as a folder that DGL wrote.
func placesOf(ctx context.Context, fsys vfs.FS, dir string, machines []Machine, threads int) (places []*place, own []byte, err error) {
	configs, parts, err := filesOf(fsys, dir)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckMachines(machines, len(parts)); err != nil {
		return nil, nil, err
	}
	m, err := store.ReadManifest(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		names := slices.Concat(configs, slices.Concat(parts...))
		if m, err = store.SumFiles(ctx, fsys, dir, names, threads); err != nil {
			return nil, nil, err
		}
	case err != nil:
		return nil, nil, err
	default:
		if own, _, err = m.Encode(); err != nil {
			return nil, nil, err
		}
	}
	add := func(pl *place, part int, names []string) error {
		for _, name := range names {
			want, ok := m.Files[name]
			if !ok {
				return fmt.Errorf("%s: %w: found a file that %s does not name; run 'graphmill verify %s'",
					filepath.Join(dir, name), store.ErrDamaged, store.ManifestFile, dir)
			}
			pl.files = append(pl.files, file{name, part, want})
		}
		return nil
	}
	at := map[string]*place{}
	for p := range parts {
		host := machines[p%len(machines)].Host
		pl := at[host]
		if pl == nil {
			pl = &place{host: host}
			at[host], places = pl, append(places, pl)
		}
		pl.parts = append(pl.parts, p)
		if err := add(pl, p, parts[p]); err != nil {
			return nil, nil, err
		}
	}
	for _, pl := range places {
		if err := add(pl, noPart, configs); err != nil {
			return nil, nil, err
		}
		mine := store.Manifest{Format: store.ManifestFormat, Files: map[string]store.ManifestFor{}}
		for _, f := range pl.files {
			mine.Files[f.name] = f.want
		}
		if pl.manifest, pl.sum, err = mine.Encode(); err != nil {
			return nil, nil, err
		}
	}
	return places, own, nil
}

// CheckMachines checks that parts can be divided evenly over machines.
func CheckMachines(machines []Machine, parts int) error {
	if len(machines) == 0 || parts%len(machines) != 0 {
		return fmt.Errorf("found %d machines for %d parts, expected a number of parts that is a multiple of the machines; partition into %d parts, or take machines off the list",
			len(machines), parts, (parts/max(len(machines), 1)+1)*len(machines))
	}
	return nil
}

// filesOf finds the configs of a partitioned folder and the files of each part: those that the config names,
// and all other files in the part's folder.
func filesOf(fsys vfs.FS, dir string) (configs []string, parts [][]string, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	var config *dgl.Config
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".json") || !e.Type().IsRegular() {
			continue
		}
		b, err := vfs.ReadFile(fsys, name, maxJSON)
		if err != nil {
			return nil, nil, err
		}
		if !bytes.Contains(b, []byte(`"node_map"`)) {
			continue // a manifest or a report, which lacks this key
		}
		c, err := dgl.ReadConfig(fsys, name, false)
		if err != nil {
			return nil, nil, err
		}
		if config != nil && !slices.Equal(c.Parts, config.Parts) {
			return nil, nil, fmt.Errorf("%s: found other parts than in %s, expected one partitioned graph in a folder; move the files of each graph to a folder of their own", name, configs[0])
		}
		config, configs = c, append(configs, e.Name())
	}
	if config == nil {
		return nil, nil, fmt.Errorf("%s: found no partition config (GRAPH.json), expected a folder that 'graphmill dispatch' or DGL wrote; dispatch the graph first, or give the folder that holds GRAPH.json", dir)
	}
	owner := map[string]int{} // part of each folder that has files; noPart: of several parts
	for p, f := range config.Parts {
		names := []string{path.Clean(filepath.ToSlash(f.Graph)), path.Clean(filepath.ToSlash(f.NodeFeats)), path.Clean(filepath.ToSlash(f.EdgeFeats))}
		for _, name := range names {
			if o, seen := owner[path.Dir(name)]; seen && o != p || path.Dir(name) == "." {
				owner[path.Dir(name)] = noPart
			} else {
				owner[path.Dir(name)] = p
			}
		}
		parts = append(parts, names)
	}
	for sub, p := range owner {
		if p == noPart {
			continue
		}
		entries, err := fsys.ReadDir(filepath.Join(dir, filepath.FromSlash(sub)))
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				parts[p] = append(parts[p], path.Join(sub, e.Name()))
			}
		}
	}
	for p := range parts {
		slices.Sort(parts[p])
		parts[p] = slices.Compact(parts[p])
	}
	return configs, parts, nil
}
