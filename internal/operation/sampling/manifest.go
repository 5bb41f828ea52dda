package sampling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// create begins the output, or continues the output of an interrupted run.
func (o *request) create(ctx context.Context, out string) (*store.Writer, error) {
	if o.cluster != nil {
		if err := o.cluster.Engine.Free(ctx, operation.Worked(out)); err != nil {
			return nil, err
		}
	}
	if o.resume {
		return store.Continue(vfs.OS, out, o.Overwrite)
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(vfs.OS.RemoveAll(spilled(out)), vfs.OS.RemoveAll(operation.Worked(out))); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// spilled returns the folder next to an output in which the stream executor keeps the spilled steps of an epoch.
func spilled(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	return filepath.Join(parent, "."+base+".spill")
}

// made returns the options that determine the output.
func (o *request) made(ctx context.Context, s *store.Store, plan *sample.Plan) (store.Made, error) {
	sum, err := store.Sum(vfs.OS, s.Dir)
	if err != nil {
		return store.Made{}, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return store.Made{}, err
	}
	made := store.Made{Command: "sample", Inputs: map[string]string{"store": sum}, Seed: &o.Seed, Law: draw.Version, Plan: text, Version: operation.Version(),
		Options: map[string]string{
			"seeds": o.Seeds, "limit_seeds": strconv.Itoa(o.LimitSeeds), "batch_size": strconv.Itoa(o.BatchSize), "shuffle": strconv.FormatBool(o.Shuffle),
			"epoch": strconv.FormatUint(o.Epoch, 10), "epochs": strconv.Itoa(o.Epochs), "rank": fmt.Sprintf("%d/%d", o.Rank, o.Ranks)}}
	if o.Positives != "" {
		made.Options["positives"] = o.Positives
	}
	if o.SeedTime != "" {
		made.Options["seed_time"] = o.SeedTime
		_, err := vfs.OS.Stat(o.SeedTime)
		if err != nil && !vfs.Absent(err) {
			return store.Made{}, err
		}
		if err == nil && seeds.IsFileOfTimes(o.SeedTime) {
			if made.Inputs["seed_time"], err = store.Fingerprint(ctx, vfs.OS, o.SeedTime); err != nil {
				return store.Made{}, err
			}
			made.Options["seed_time"] = filepath.Base(o.SeedTime)
		}
	}
	if err := o.madeNegatives(ctx, &made); err != nil {
		return store.Made{}, err
	}
	if o.Format == option.FormatTFRecord {
		o.madeRecords(made.Options)
	}
	if o.GraphSchema != "" && !o.tables {
		if made.Inputs["graph_schema"], err = store.Fingerprint(ctx, vfs.OS, o.GraphSchema); err != nil {
			return store.Made{}, err
		}
	}
	if o.missing != "" {
		made.Options["missing_nodes"] = string(o.missing)
	}
	// A file of seeds is an input: its content identifies it, not its path.
	files, err := seeds.Files(vfs.OS, s.Graph, o.Seeds)
	if err != nil {
		return store.Made{}, err
	}
	for i, file := range files {
		name := "seeds"
		if i > 0 {
			name += "/" + filepath.Base(file)
		}
		if made.Inputs[name], err = store.Fingerprint(ctx, vfs.OS, file); err != nil {
			return store.Made{}, err
		}
		made.Options["seeds"] = filepath.Base(o.Seeds)
	}
	return made, nil
}

// madeRecords adds the options of TFRecords that are not the default.
func (o *request) madeRecords(options map[string]string) {
	if o.Compat != option.CompatNone {
		options["compat"] = string(o.Compat)
	}
	if o.Aggregation == option.AggregationNode {
		options["edge_aggregation"] = string(o.Aggregation)
	}
	if o.SeedIDs {
		options["seed_ids"] = "true"
	}
	if o.Components > 1 {
		options["components"] = strconv.Itoa(o.Components)
	}
}

// identity returns a value that covers everything that determines the bytes of the output.
func (o *request) identity(ctx context.Context, made store.Made) (map[string]string, error) {
	of := map[string]string{"version": fmt.Sprintf("%s, draw law %d", made.Version, made.Law), "plan": string(made.Plan), "seeds": made.Options["seeds"]}
	for _, group := range []any{o.Draw, o.Batching, o.Records, struct{ Format option.Format }{o.Format}} {
		v := reflect.ValueOf(group)
		for i := range v.NumField() {
			if f := v.Type().Field(i); !v.Field(i).IsZero() && !options.MayChange(f.Name) {
				of["`"+f.Name+"`"] = fmt.Sprint(v.Field(i).Interface())
			}
		}
	}
	for name, sum := range made.Inputs {
		of["input "+name] = sum
	}
	if o.cluster != nil && o.cluster.ArrayShards > 0 {
		of["`ArrayShards`"] = fmt.Sprint(o.cluster.ArrayShards)
	}
	if o.GraphSchema != "" {
		sum, err := store.Fingerprint(ctx, vfs.OS, o.GraphSchema)
		if err != nil {
			return nil, err
		}
		of["input graph_schema"] = sum
	}
	return of, nil
}
