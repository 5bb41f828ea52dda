package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/dispatch/audit"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/format/dgl"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func newVerify(t *terminal) *cobra.Command {
	var c common
	var against string
	var outside bool
	cmd := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Find any flipped bit, cut or missing file of an output folder, or what is wrong with a graph's parts",
		Long: `Reads every file of an output folder and compares it with the manifest. Of a
store or collection it also checks that the arrays mean a graph: offsets
ascend, ids are in range, the id index finds every id.

Of a partitioned graph, its folder or its configuration, it checks that every
node, edge and row of features is there exactly once and in its place, that
edges lie with their destination, that the halo is complete, and that ids lead
back to the original ones. It names the first fault. Parts that DGL wrote have
no manifest; they are verified all the same. A warning names the parts that own nothing
of a type with features: they are whole, but DGL's server does not start for them. With --against, edges and features
are compared with the store that the parts were made of, which needs the
original ids in them (dispatch --save-orig-nids --save-orig-eids).

Exit status: 0 all is well, 1 failed, 2 wrong usage, 3 found damage.`,
		Example: `  graphmill verify g.store
  graphmill verify samples --json
  graphmill verify parts/
  graphmill verify parts/cora.json --against cora.store`,
		Args: oneArg("one FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			return t.verify(cmd.Context(), args[0], against, outside, c)
		},
	}
	c.addThreads(cmd)
	cmd.Flags().StringVar(&against, "against", "", "store that parts were made of, to compare their edges and features with")
	cmd.Flags().BoolVar(&outside, "allow-outside", false, "let the configuration of parts name files outside of its folder")
	return cmd
}

// verified is what verify found in a folder: of its manifest, of the parts in it, or
// of both.
type verified struct {
	Folder string `json:"folder"`
	OK     bool   `json:"ok"`
	*store.Verified
	Partition *audit.Report `json:"partition,omitempty"`
	// PartsHere are the parts in a folder that holds only some of a graph's, as each
	// machine of a cluster does.
	PartsHere []int   `json:"parts_here,omitempty"`
	Seconds   float64 `json:"seconds"`
}

func (t *terminal) verify(ctx context.Context, path, against string, outside bool, c common) error {
	start := time.Now()
	config, err := parts.Find(vfs.OS, path)
	if err != nil {
		return err
	}
	if info, err := vfs.OS.Stat(path); err == nil && !info.IsDir() {
		config = path // whatever is in it: that is to be verified
	}
	if config == "" && against != "" {
		return usagef("found --against with %s, expected it with the parts of a graph", path)
	}
	dir := path
	if config != "" {
		dir = filepath.Dir(config)
	}
	v := verified{Folder: path}
	_, err = vfs.OS.Lstat(filepath.Join(dir, store.ManifestFile))
	if _, part := vfs.OS.Lstat(filepath.Join(dir, "part0")); part == nil && config == "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: found part0 and no configuration that can be read, expected GRAPH_NAME.json of a partitioned graph; name that file", dir)
	}
	switch {
	case err == nil || config == "":
		total, _ := store.Size(vfs.OS, dir) // of a damaged folder it is unknown
		line := t.progress("verify", total, "bytes")
		v.Verified, err = store.Verify(ctx, vfs.OS, dir, c.threads, func(n int64) { line.Add(n) })
		line.Done()
		if err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if config != "" && v.Verified != nil && len(v.Damage) == 0 {
		if v.PartsHere, err = partsHere(config, outside); err != nil {
			return err
		}
		if v.PartsHere != nil && against != "" {
			return usagef("found --against with a folder that holds parts %v alone, expected all parts", v.PartsHere)
		}
	}
	if config != "" && v.PartsHere == nil {
		if v.Partition, err = t.audit(ctx, config, against, outside); err != nil {
			return err
		}
	}
	v.OK = (v.Verified == nil || len(v.Damage) == 0) && (v.Partition == nil || v.Partition.Fault == nil)
	v.Seconds = time.Since(start).Seconds()
	if err := t.printVerified(&v, c.json); err != nil {
		return err
	}
	if !v.OK {
		return errDamage
	}
	return nil
}

// partsHere are the parts that the manifest beside a configuration names, nil for all
// of them.
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
func (t *terminal) audit(ctx context.Context, config, against string, outside bool) (_ *audit.Report, err error) {
	line := t.progress("verify the parts", 0, "edges")
	defer line.Done()
	last := int64(0)
	opt := audit.Options{Outside: outside, Progress: func(done, _ int64) {
		line.Add(done - last)
		last = done
	}}
	if against != "" {
		s, err := store.Open(vfs.OS, against)
		if err != nil {
			return nil, err
		}
		defer closeWith(&err, s.Close)
		if s.Graph == nil {
			return nil, usagef("--against %s: found a collection, expected a store", against)
		}
		if err := s.Check(ctx); err != nil {
			return nil, err
		}
		opt.Against = s.Graph
	}
	return audit.Verify(ctx, vfs.OS, config, opt)
}

func (t *terminal) printVerified(v *verified, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(t.stdout)
		e.SetIndent("", " ")
		return e.Encode(v)
	}
	if x := v.Verified; x != nil {
		for _, u := range x.Unknown {
			t.warn("%s: %s is not in the manifest; it was not written by graphmill", v.Folder, human.Printable(u))
		}
		for _, d := range x.Damage {
			fmt.Fprintf(t.stdout, "damaged  %s: found %s\n", human.Printable(d.File), human.Printable(d.Found))
		}
		if len(x.Damage) > 0 {
			fmt.Fprintf(t.stdout, "%s: %d damaged; make it again\n", v.Folder, len(x.Damage))
		} else if v.PartsHere != nil {
			fmt.Fprintf(t.stdout, "%s: whole (parts %s of a graph, %d files, %s); only checksums were compared, for the other parts are elsewhere\n",
				v.Folder, strings.Trim(fmt.Sprint(v.PartsHere), "[]"), x.Files, human.Bytes(x.Bytes))
		} else if v.Partition == nil {
			d := time.Duration(v.Seconds * float64(time.Second))
			fmt.Fprintf(t.stdout, "%s: whole (%d files, %s, %s)\n", v.Folder, x.Files, human.Bytes(x.Bytes), human.Rate(x.Bytes, d, "bytes"))
		}
	}
	if p := v.Partition; p != nil {
		for _, n := range p.Notes {
			t.warn("%s: %s", v.Folder, n)
		}
		if p.Fault != nil {
			fmt.Fprintf(t.stdout, "wrong  %s\n%s: the parts are not whole; make them again\n", human.Printable(p.Fault.Error()), v.Folder)
			return nil
		}
		compared := ""
		if p.ComparedEdges > 0 || p.ComparedRows > 0 {
			compared = fmt.Sprintf("; %s and %s rows of features compared with the store", human.Amount(p.ComparedEdges, "edges"), human.Count(p.ComparedRows))
		}
		if v.Verified == nil || len(v.Damage) == 0 {
			fmt.Fprintf(t.stdout, "%s: whole (%d parts, %s nodes, %s edges, halo_hops %d%s)\n", v.Folder, p.Parts, human.Exact(p.Nodes), human.Exact(p.Edges), p.HaloHops, compared)
		}
	}
	return nil
}
