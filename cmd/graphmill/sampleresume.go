package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// resumeFlags say how a run that is stopped can be gone on with.
type resumeFlags struct {
	resume     bool
	checkpoint time.Duration
	all        *pflag.FlagSet // of the command
}

func (f *resumeFlags) add(fs *pflag.FlagSet) {
	f.all = fs
	fs.BoolVar(&f.resume, "resume", false, "go on with what an interrupted run of the same command left, if there is any")
	fs.DurationVar(&f.checkpoint, "checkpoint-every", 30*time.Second, "time between two checkpoints, which --resume goes on from; 0: make none")
}

func (f *resumeFlags) check() error {
	if f.checkpoint < 0 {
		return usagef("found --checkpoint-every %s, expected at least 0s", f.checkpoint)
	}
	return nil
}

// writer begins the output, or takes up what an interrupted run left.
func (f *sampleFlags) writer() (*store.Writer, error) {
	if f.resume {
		return store.Continue(vfs.OS, f.out, f.force)
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return nil, err
	}
	if err := vfs.OS.RemoveAll(f.spilled()); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// spilled is the folder beside the output in which the stream executor keeps steps of
// an epoch that it spills.
func (f *sampleFlags) spilled() string {
	parent, base := filepath.Split(filepath.Clean(f.out))
	return filepath.Join(parent, "."+base+".spill")
}

// errCheckpoint is what a run ends with that a later one can go on with.
var errCheckpoint = errors.New("the same command with --resume goes on from there")

// end gives up what is not published. What a checkpoint has stays, and the error says so.
func (f *sampleFlags) end(ctx context.Context, w *store.Writer, err *error) {
	if *err == nil {
		*err = vfs.OS.RemoveAll(f.spilled())
	}
	spilled := outofcore.Kept(vfs.OS, f.spilled())
	if *err != nil && (w.Checkpointed() || spilled) && !errors.Is(*err, store.ErrOtherRun) {
		kept := "what an earlier run wrote is kept in " + w.Dir()
		if n := output.Saved(w); n > 0 {
			kept = fmt.Sprintf("the first %s subgraphs are kept in %s", human.ExactU(n), w.Dir())
		} else if spilled {
			kept = "steps of an epoch are kept in " + f.spilled()
		}
		how := fmt.Errorf("%s, and %w", kept, errCheckpoint)
		if ctx.Err() != nil {
			*err = how
		} else {
			*err = errors.Join(*err, how)
		}
	}
	closeWith(err, w.Abort)
}

// freeFlags are those that may change between a run and one that goes on with it: they
// say where and how, not what; or name files, whose content counts.
var freeFlags = []string{"checkpoint-every", "executor", "force", "help", "json", "memory", "out", "resume", "runner", "threads",
	"data-path", "graph-schema", "input-seeds", "output-samples", "plan", "sampling-spec", "seeds"}

// identity is all that the bytes of the output follow from.
func (f *sampleFlags) identity(ctx context.Context, made store.Made) (map[string]string, error) {
	of := map[string]string{"version": fmt.Sprintf("%s, draw law %d", made.Version, made.Law), "plan": string(made.Plan), "seeds": made.Options["seeds"]}
	f.all.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(freeFlags, flag.Name) {
			of["--"+flag.Name] = flag.Value.String()
		}
	})
	// TF-GNN's --output_samples names them too.
	of["--name"], of["--shards"] = f.name, strconv.Itoa(f.shards)
	for name, sum := range made.Inputs {
		of["input "+name] = sum
	}
	if f.tfgnn.schema != "" {
		sum, err := store.Fingerprint(ctx, vfs.OS, f.tfgnn.schema)
		if err != nil {
			return nil, err
		}
		of["input graph_schema"] = sum
	}
	return of, nil
}

// beginSample readies w for checkpoints; done is how many subgraphs it has.
func (t *terminal) beginSample(ctx context.Context, w *store.Writer, f *sampleFlags, made store.Made) (done uint64, err error) {
	of, err := f.identity(ctx, made)
	if err != nil {
		return 0, err
	}
	if err := w.Begin(ctx, of, f.threads, func(err error) { t.warn("%v", err) }); err != nil {
		return 0, err
	}
	if done = output.Saved(w); done > 0 {
		t.say("going on behind the first %s subgraphs, which an interrupted run wrote", human.ExactU(done))
	}
	return done, nil
}
