package verifying

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/dispatch/audit"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Verify reads every file of an output folder, and compares it with the manifest. For a store or a collection it also
// checks that the arrays are consistent. For the parts of a graph, given by their folder or configuration file, it checks
// that every node, edge and row of features occurs exactly once and in its place, and that the halo is complete. Damage is
// not an error: the result has OK false and lists it.
func Verify(ctx context.Context, path string, o option.Verify) (_ *report.Verification, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	v := &report.Verification{Folder: path}
	if err := verifyFolder(&o, ctx, v); err != nil {
		return nil, err
	}
	v.OK = (v.Verified == nil || len(v.Damage)+len(v.Unknown) == 0) && (v.Partition == nil || v.Partition.Fault == nil) && (v.Compared == nil || v.Compared.Fault == "")
	v.Seconds = time.Since(start).Seconds()
	return v, nil
}

func verifyFolder(o *option.Verify, ctx context.Context, v *report.Verification) error {
	path := v.Folder
	info, err := vfs.OS.Stat(path)
	if vfs.Absent(err) {
		return tagged.Errorf(fs.ErrNotExist, "%s: found no such file or folder, expected an output of graphmill; correct the path", path)
	}
	if err != nil {
		return err
	}
	config, err := parts.Find(vfs.OS, path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if filepath.Ext(path) != ".json" {
			return fmt.Errorf("%s: found a file, expected an output folder of graphmill, or the configuration of a partitioned graph (GRAPH_NAME.json)", path)
		}
		config = path // even if it cannot be read: Verify reports that
	}
	if name := options.First(o, "Seeds", "SeedTime", "NegativesFrom", "GraphSchema"); name != "" && (o.Against == "" || config != "") {
		return operation.Usagef("found `%s` without TFRecords and `Against`, expected them together", name)
	}
	dir := path
	if config != "" {
		dir = filepath.Dir(config)
	}
	_, err = vfs.OS.Lstat(filepath.Join(dir, store.ManifestFile))
	if config == "" && errors.Is(err, fs.ErrNotExist) {
		switch _, part := vfs.OS.Lstat(filepath.Join(dir, "part0")); {
		case part == nil:
			return fmt.Errorf("%s: found part0 and no configuration that can be read, expected GRAPH_NAME.json of a partitioned graph; name that file", dir)
		case !errors.Is(part, fs.ErrNotExist):
			return part
		}
	}
	switch {
	case err == nil || config == "":
		total, _ := store.Size(vfs.OS, dir) // unknown for a damaged folder
		line := operation.NewMeter(&o.Run, "verify", total, "bytes")
		v.Verified, err = store.Verify(ctx, vfs.OS, dir, o.Threads, line.Add)
		line.End()
		if err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if config != "" && v.Verified != nil && len(v.Damage) == 0 {
		if v.PartsHere, err = partsHere(config, o.AllowOutside); err != nil {
			return err
		}
		if v.PartsHere != nil && o.Against != "" {
			return operation.Usagef("found `Against` with a folder that holds only parts %v, expected all parts", v.PartsHere)
		}
	}
	switch {
	case config != "" && v.PartsHere == nil:
		v.Partition, err = auditParts(o, ctx, config)
	case config == "" && o.Against != "" && len(v.Damage) == 0:
		v.Compared, err = compareSubgraphs(o, ctx, dir)
	}
	return err
}

// partsHere returns the parts that the manifest next to a configuration lists, nil for all of them.
func partsHere(config string, outside bool) (here []int, err error) {
	c, err := dgl.ReadConfig(vfs.OS, config, outside)
	if err != nil {
		return nil, err
	}
	m, err := store.ReadManifest(vfs.OS, filepath.Dir(config))
	if err != nil {
		return nil, err
	}
	for p, files := range c.Parts {
		if _, ok := m.Files[filepath.ToSlash(filepath.Clean(files.Graph))]; ok {
			here = append(here, p)
		}
	}
	if len(here) == len(c.Parts) {
		return nil, nil
	}
	return here, nil
}

// auditParts verifies the parts of a graph.
func auditParts(o *option.Verify, ctx context.Context, config string) (_ *report.PartsCheck, err error) {
	line := operation.NewMeter(&o.Run, "verify the parts", 0, "edges")
	defer line.End()
	last := int64(0)
	opt := audit.Options{Outside: o.AllowOutside, Threads: o.Threads, Progress: func(done, _ int64) {
		line.Add(done - last)
		last = done
	}}
	if o.Against != "" {
		s, err := store.OpenMerged(vfs.OS, o.Against, -1)
		if err != nil {
			return nil, err
		}
		defer operation.CloseWith(&err, s.Close)
		if s.Graph == nil {
			return nil, operation.Usagef("`Against` %s: found a collection, expected a store", o.Against)
		}
		if err := s.Check(ctx); err != nil {
			return nil, err
		}
		opt.Against = s.Graph
		if opt.Features, err = widening.Read(vfs.OS, s.Dir); err != nil {
			return nil, err
		}
	}
	return audit.Verify(ctx, vfs.OS, config, opt)
}
