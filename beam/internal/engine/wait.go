package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
)

// lateTime bounds the wait for what the server tells after the last state: the cause of a failure, and the end of its messages.
const lateTime = 3 * time.Second

// follow waits until a job ends, and cancels it when ctx ends.
func (s *server) follow(ctx context.Context, id string) (Result, error) {
	type end struct {
		res Result
		err error
	}
	ended := make(chan end, 1)
	// The messages outlive ctx, because they tell the end of a cancelled job too.
	messages, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		res, err := s.wait(messages, id)
		ended <- end{res, err}
	}()
	var cancelled error
	select {
	case e := <-ended:
		stop()
		return e.res, e.err
	case <-ctx.Done():
		cancelled = s.cancel(id)
	}
	if cancelled != nil {
		stop()
	}
	defer time.AfterFunc(lateTime, stop).Stop()
	defer stop()
	e := <-ended
	if cancelled != nil {
		e.res.State = "" // not known
		return e.res, fmt.Errorf("job %s: %w; it could not be cancelled and may still run: %w", id, context.Cause(ctx), cancelled)
	}
	e.res.State = jobpb.JobState_CANCELLED.String()
	if s.o.Runner == Flink && s.o.JobManager == "" && !s.o.ownWorkers {
		return e.res, fmt.Errorf("job %s was cancelled: %w; a Flink outside the job server goes on with it: cancel it on Flink's pages, or give `JobManager` next time", id, context.Cause(ctx))
	}
	return e.res, fmt.Errorf("job %s was cancelled: %w", id, context.Cause(ctx))
}

// wait reads the messages of a job until it ends. An error is about the job, or about the connection.
func (s *server) wait(ctx context.Context, id string) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res := Result{JobID: id}
	stream, err := s.jobs.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return res, s.lost(id, err)
	}
	reason, final := "", false
	for {
		m, err := stream.Recv()
		switch {
		case err != nil && final:
			return res, s.verdict(res, reason)
		case errors.Is(err, io.EOF):
			return s.ask(ctx, res, reason)
		case err != nil:
			return res, s.lost(id, err)
		}
		if t := m.GetMessageResponse(); t != nil {
			text := t.GetMessageText()
			if t.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
				text = cause(text)
				reason = text
			}
			s.o.Message(level(t.GetImportance()), text)
		}
		if t := m.GetStateResponse(); t != nil {
			res.State = t.GetState().String()
			if last(t.GetState()) && !final {
				final = true
				defer time.AfterFunc(lateTime, cancel).Stop()
			}
		}
	}
}

// ask completes the result of a job whose messages ended without its last state.
func (s *server) ask(ctx context.Context, res Result, reason string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	state, err := s.jobs.GetState(ctx, &jobpb.GetJobStateRequest{JobId: res.JobID})
	if err != nil {
		return res, s.lost(res.JobID, err)
	}
	res.State = state.GetState().String()
	return res, s.verdict(res, reason)
}

// verdict is the error of a job by its last state.
func (s *server) verdict(res Result, reason string) error {
	switch res.State {
	case jobpb.JobState_DONE.String():
		return nil
	case jobpb.JobState_FAILED.String():
		if reason == "" {
			reason = "the job server told no reason; see its log"
		}
		switch {
		case s.o.Runner == Spark && strings.HasPrefix(reason, busy):
			reason = "the job server at " + s.o.Endpoint + " runs another job, and Spark takes one at a time; let that one end, or give the `Endpoint` of another job server"
		case s.o.Runner == Flink && unreachable.MatchString(reason):
			reason = "the job server cannot reach Flink's JobManager, which may have died (" + reason + "); look at its log and start it again"
		}
		return fmt.Errorf("job %s failed: %s", res.JobID, reason)
	}
	return fmt.Errorf("job %s: found state %s, expected DONE; somebody else ended it", res.JobID, res.State)
}

// busy begins the message of Spark about a second job in one job server.
const busy = "Only one SparkContext should be running in this JVM"

// unreachable begins the message of Java's network where a job server does not reach the JobManager.
var unreachable = regexp.MustCompile(`^(Connection refused|Connection reset|Connection timed out|Connection prematurely closed|No route to host|Channel became inactive)`)

func last(s jobpb.JobState_Enum) bool {
	switch s {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED, jobpb.JobState_UPDATED:
		return true
	}
	return false
}

func (s *server) lost(id string, err error) error {
	return fmt.Errorf("job %s: lost the job server at %s: %s; the job may still run: see the pages of the runner", id, s.o.Endpoint, plain(err))
}

// cancel cancels a job, at Flink too if it is known, and waits for its end.
func (s *server) cancel(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTime)
	defer cancel()
	err := s.cancelHere(ctx, id)
	if s.o.JobManager == "" {
		return err
	}
	m := s.o.manager()
	defer m.close()
	return errors.Join(err, m.cancel(ctx, flinkName(id)))
}

// flinkName is Flink's name of a job, from which the job server makes the id.
func flinkName(id string) string { return id[:max(0, strings.LastIndexByte(id, '_'))] }

// cancelHere cancels a job at the job server.
func (s *server) cancelHere(ctx context.Context, id string) error {
	c, err := s.jobs.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id})
	for state := c.GetState(); err == nil && !last(state); {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("found state %s after %s, expected CANCELLED", state, cancelTime)
		}
		var r *jobpb.JobStateEvent
		r, err = s.jobs.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id})
		state = r.GetState()
	}
	return err
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
