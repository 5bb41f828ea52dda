package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/status"
)

// lateTime bounds the wait for the cause of a failure, which the server may tell after the failure.
const lateTime = 3 * time.Second

// wait follows a job until it ends. An error is about the job, or about the connection.
func (s *server) wait(ctx context.Context, id string) (Result, error) {
	res := Result{JobID: id}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.jobs.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return res, s.lost(id, err)
	}
	reason, failed := "", false
	for {
		m, err := stream.Recv()
		switch {
		case failed && err != nil:
			return res, fmt.Errorf("job %s failed: %s", id, cause(reason))
		case errors.Is(err, io.EOF):
			return s.ended(ctx, res, reason)
		case err != nil:
			return res, s.lost(id, err)
		}
		if t := m.GetMessageResponse(); t != nil {
			s.o.Message(level(t.GetImportance()), t.GetMessageText())
			if t.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
				reason = t.GetMessageText()
			}
		}
		if t := m.GetStateResponse(); t != nil {
			res.State = t.GetState().String()
			switch t.GetState() {
			case jobpb.JobState_DONE:
				return res, nil
			case jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
				return s.ended(ctx, res, reason)
			case jobpb.JobState_FAILED:
				failed = true
				defer time.AfterFunc(lateTime, cancel).Stop()
			}
		}
		if failed && reason != "" {
			return res, fmt.Errorf("job %s failed: %s", id, cause(reason))
		}
	}
}

// ended is the result of a job whose messages ended. It asks for the state if the messages did not tell it.
func (s *server) ended(ctx context.Context, res Result, reason string) (Result, error) {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	state, err := s.jobs.GetState(call, &jobpb.GetJobStateRequest{JobId: res.JobID})
	if err != nil {
		return res, s.lost(res.JobID, err)
	}
	res.State = state.GetState().String()
	switch state.GetState() {
	case jobpb.JobState_DONE:
		return res, nil
	case jobpb.JobState_FAILED:
		return res, fmt.Errorf("job %s failed: %s", res.JobID, cause(reason))
	case jobpb.JobState_CANCELLED:
		return res, fmt.Errorf("job %s was cancelled by somebody else", res.JobID)
	}
	return res, fmt.Errorf("job %s: found state %s after its last message, expected DONE", res.JobID, res.State)
}

func (s *server) lost(id string, err error) error {
	return fmt.Errorf("job %s: lost the job server at %s: %s; the job may still run: see the pages of the runner", id, s.o.Endpoint, status.Convert(err).Message())
}

// cancel cancels a job and waits for its end. It returns the last state that it saw.
func (s *server) cancel(id string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	c, err := s.jobs.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id})
	if err != nil {
		return "", err
	}
	for state := c.GetState(); ; {
		switch state {
		case jobpb.JobState_CANCELLED, jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_DRAINED:
			return state.String(), nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return state.String(), fmt.Errorf("found state %s after %s, expected CANCELLED", state, cancelTime)
		}
		r, err := s.jobs.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id})
		if err != nil {
			return state.String(), err
		}
		state = r.GetState()
	}
}

func level(i jobpb.JobMessage_MessageImportance) slog.Level {
	switch {
	case i >= jobpb.JobMessage_JOB_MESSAGE_ERROR:
		return slog.LevelError
	case i == jobpb.JobMessage_JOB_MESSAGE_WARNING:
		return slog.LevelWarn
	case i == jobpb.JobMessage_JOB_MESSAGE_BASIC:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
