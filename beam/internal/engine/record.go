package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// recorded is a job that may run.
type recorded struct {
	Endpoint string `json:"endpoint"`
	Job      string `json:"job"`
}

// In returns the options of a job that works in a folder of package workfolder, which names the job while it runs.
func (o Options) In(dir string) Options {
	o.Record = filepath.Join(dir, workfolder.JobFile)
	return o
}

// record notes a job in the file Record.
func (o *Options) record(id string) error {
	if o.Record == "" {
		return nil
	}
	b, err := json.Marshal(recorded{o.Endpoint, id})
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(vfs.OS, o.Record, b); err != nil {
		return fmt.Errorf("cannot note the job: %w", err)
	}
	return nil
}

// forget removes the note of a job that has ended.
func (o *Options) forget() error {
	if o.Record == "" {
		return nil
	}
	if err := vfs.OS.Remove(o.Record); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mayRun says whether a job may run on after it was followed: the server was lost before it told an end, or did not cancel the job.
func mayRun(res Result, err error) bool {
	state, known := jobpb.JobState_Enum_value[res.State]
	return err != nil && (!known || !last(jobpb.JobState_Enum(state)))
}

// Free returns an error where the job that Record names may still run, because its submitter was killed or lost the server.
// It removes the note of a job that has ended. A job that the server does not know has, unless the JobManager knows it.
func Free(ctx context.Context, o Options) error {
	b, err := vfs.ReadFile(vfs.OS, o.Record, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var r recorded
	if json.Unmarshal(b, &r) != nil || r.Job == "" { // the process died while it wrote
		return fmt.Errorf("%s: found no job in it, expected the job of an earlier run; check on the engine's web pages that no job runs, and remove the file", o.Record)
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Endpoint != r.Endpoint {
		return fmt.Errorf("found job %s of an earlier run, which was given to the job server at %s; give that `Endpoint`, or check on the engine's web pages that the job has ended, and remove %s", r.Job, r.Endpoint, o.Record)
	}
	s, err := o.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	runs, err := s.runs(ctx, r.Job)
	if err != nil {
		return err
	}
	if runs {
		return fmt.Errorf("job %s of an earlier run still runs, expected none beside this one; let it end or cancel it on the pages of the engine, and then give the same command again", r.Job)
	}
	return o.forget()
}

// runs says whether a job runs.
func (s *server) runs(ctx context.Context, id string) (bool, error) {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	state, err := s.jobs.GetState(call, &jobpb.GetJobStateRequest{JobId: id})
	switch code := status.Code(err); {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case code == codes.Unavailable || code == codes.DeadlineExceeded:
		return false, s.lost(id, err)
	case err == nil && !last(state.GetState()):
		return true, nil
	}
	if s.o.JobManager == "" {
		return false, nil
	}
	m := s.o.manager()
	defer m.close()
	j, err := m.find(call, flinkName(id))
	return j != nil && !j.ended(), err
}
