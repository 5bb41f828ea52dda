package graphmill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/dispatch/audit"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// VerifyOptions say with what Verify compares a folder, in addition to its manifest.
type VerifyOptions struct {
	Run
	// Against is the store from which the parts of a graph, a collection or TFRecords were made. "" compares nothing. Edges and
	// features of parts are compared with it, which requires parts with original ids (PartsOptions.SaveOrigNids, SaveOrigEids).
	// The ends of each edge of a sampled collection are compared with the ends of the store's edge with its id. TFRecords have no ids:
	// they are drawn anew by the memory executor, into the folder for temporary files (TMPDIR), and each record is compared.
	Against string
	// Seeds, SeedTime and GraphSchema are the files with which TFRecords were sampled (SampleOptions), if there were any.
	Seeds, SeedTime, GraphSchema string
	// AllowOutside lets the configuration of parts name files outside its folder.
	AllowOutside bool
}

// Verification is the result of Verify. Its JSON is what the command verify prints with --json.
type Verification struct {
	Folder string `json:"folder"`
	OK     bool   `json:"ok"` // no damage was found, and no file that is not in the manifest
	// Verified is the comparison with the manifest; nil if the folder has none.
	*store.Verified
	// Partition is the check of the parts of a graph; nil for any other folder.
	Partition *audit.Report `json:"partition,omitempty"`
	// PartsHere lists the parts in a folder that holds only some parts of a graph, as on each machine of a cluster.
	PartsHere []int `json:"parts_here,omitempty"`
	// Compared is the comparison of subgraphs with a store; nil without one.
	Compared *Compared `json:"compared,omitempty"`
	Seconds  float64   `json:"seconds"` // elapsed time
}

// Verify reads every file of an output folder, and compares it with the manifest. For a store or a collection it also
// checks that the arrays are consistent. For the parts of a graph, given by their folder or configuration file, it checks
// that every node, edge and row of features occurs exactly once and in its place, and that the halo is complete. Damage is
// not an error: the result has OK false and lists it.
func Verify(ctx context.Context, path string, o VerifyOptions) (_ *Verification, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := o.check(); err != nil {
		return nil, err
	}
	v := &Verification{Folder: path}
	if err := o.verify(ctx, v); err != nil {
		return nil, err
	}
	v.OK = (v.Verified == nil || len(v.Damage)+len(v.Unknown) == 0) && (v.Partition == nil || v.Partition.Fault == nil) && (v.Compared == nil || v.Compared.Fault == "")
	v.Seconds = time.Since(start).Seconds()
	return v, nil
}

func (o *VerifyOptions) verify(ctx context.Context, v *Verification) error {
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
	if name := firstGiven(option{"Seeds", o.Seeds != ""}, option{"SeedTime", o.SeedTime != ""}, option{"GraphSchema", o.GraphSchema != ""}); name != "" && (o.Against == "" || config != "") {
		return usagef("found `%s` without TFRecords and `Against`, expected them together", name)
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
		line := o.meter("verify", total, "bytes")
		v.Verified, err = store.Verify(ctx, vfs.OS, dir, o.Threads, line.add)
		line.end()
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
			return usagef("found `Against` with a folder that holds only parts %v, expected all parts", v.PartsHere)
		}
	}
	switch {
	case config != "" && v.PartsHere == nil:
		v.Partition, err = o.audit(ctx, config)
	case config == "" && o.Against != "" && len(v.Damage) == 0:
		v.Compared, err = o.compareSubgraphs(ctx, dir)
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

// audit verifies the parts of a graph.
func (o *VerifyOptions) audit(ctx context.Context, config string) (_ *audit.Report, err error) {
	line := o.meter("verify the parts", 0, "edges")
	defer line.end()
	last := int64(0)
	opt := audit.Options{Outside: o.AllowOutside, Threads: o.Threads, Progress: func(done, _ int64) {
		line.add(done - last)
		last = done
	}}
	if o.Against != "" {
		s, err := store.Open(vfs.OS, o.Against)
		if err != nil {
			return nil, err
		}
		defer closeWith(&err, s.Close)
		if s.Graph == nil {
			return nil, usagef("`Against` %s: found a collection, expected a store", o.Against)
		}
		if err := s.Check(ctx); err != nil {
			return nil, err
		}
		opt.Against = s.Graph
	}
	return audit.Verify(ctx, vfs.OS, config, opt)
}

// Warnings lists findings that are not damage, such as types of which a part owns nothing.
func (v *Verification) Warnings() (list []string) {
	if v.Partition != nil {
		for _, n := range v.Partition.Notes {
			list = append(list, fmt.Sprintf("%s: %s", v.Folder, n))
		}
	}
	return list
}

// Text writes the verification in words.
func (v *Verification) Text(out io.Writer) error {
	var b strings.Builder
	if x := v.Verified; x != nil {
		for _, d := range x.Damage {
			fmt.Fprintf(&b, "damaged  %s: found %s\n", human.Printable(d.File), human.Printable(d.Found))
		}
		for _, u := range x.Unknown {
			fmt.Fprintf(&b, "unknown  %s: not in the manifest, so graphmill did not write it\n", human.Printable(u))
		}
		if len(x.Damage) > 0 {
			fmt.Fprintf(&b, "%s: %s damaged; make the folder again\n", v.Folder, counted(int64(len(x.Damage)), "file"))
		}
		if len(x.Unknown) > 0 {
			fmt.Fprintf(&b, "%s: %s not in the manifest; move what is yours to another folder\n", v.Folder, counted(int64(len(x.Unknown)), "path"))
		}
		if len(x.Damage)+len(x.Unknown) > 0 {
			// The folder is not whole.
		} else if c := v.Compared; c != nil && c.Fault != "" {
			fmt.Fprintf(&b, "wrong  %s\n%s: the subgraphs were not drawn from %s as it is now; sample them again\n", human.Printable(c.Fault), v.Folder, c.Store)
		} else if v.PartsHere != nil {
			fmt.Fprintf(&b, "%s: whole (parts %s of a graph, %d files, %s); only checksums were compared, because the other parts are elsewhere\n",
				v.Folder, strings.Trim(fmt.Sprint(v.PartsHere), "[]"), x.Files, human.Bytes(x.Bytes))
		} else if v.Partition == nil {
			fmt.Fprintf(&b, "%s: whole (%d files, %s, %s%s)\n", v.Folder, x.Files, human.Bytes(x.Bytes), human.Rate(x.Bytes, seconds(v.Seconds), "bytes"), v.Compared.text())
		}
	}
	if p := v.Partition; p != nil {
		compared := ""
		if p.ComparedEdges > 0 || p.ComparedRows > 0 {
			compared = fmt.Sprintf("; %s edges and %s rows of features compared with the store", human.Exact(p.ComparedEdges), human.Exact(p.ComparedRows))
		}
		switch {
		case p.Fault != nil:
			fmt.Fprintf(&b, "wrong  %s\n%s: the parts are not whole; make them again\n", human.Printable(p.Fault.Error()), v.Folder)
		case v.Verified == nil || len(v.Damage)+len(v.Unknown) == 0:
			fmt.Fprintf(&b, "%s: whole (%d parts, %s nodes, %s edges, halo_hops %d%s)\n", v.Folder, p.Parts, human.Exact(p.Nodes), human.Exact(p.Edges), p.HaloHops, compared)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
