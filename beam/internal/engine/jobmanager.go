package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// jobManager is Flink's REST interface.
type jobManager struct {
	base   string
	client *http.Client
}

// manager returns Flink's REST interface. The caller closes it.
func (o *Options) manager() *jobManager {
	return &jobManager{strings.TrimSuffix(o.JobManager, "/"), &http.Client{Transport: &http.Transport{TLSClientConfig: o.TLS}}}
}

func (m *jobManager) close() { m.client.CloseIdleConnections() }

// checkManager refuses a URL that is none, and one beyond loopback that is neither encrypted nor allowed.
func (o *Options) checkManager() error {
	u, err := url.Parse(o.JobManager)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("found `JobManager` %q, expected a URL such as http://localhost:8081", o.JobManager)
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // its default
	}
	return o.allowed("`JobManager`", u.Hostname()+":"+port, u.Scheme == "https", "give a URL with https, or ")
}

// flinkJob is a job as Flink shows it.
type flinkJob struct {
	ID    string `json:"jid"`
	Name  string `json:"name"`
	State string `json:"state"`
}

func (j *flinkJob) ended() bool {
	switch j.State {
	case "FINISHED", "CANCELED", "FAILED", "SUSPENDED":
		return true
	}
	return false
}

// appearTime bounds the wait for a job that the job server took, and may not have given to Flink.
const appearTime = 3 * time.Second

// cancel cancels the job of Flink that has a name, and waits for its end. There may be none.
func (m *jobManager) cancel(ctx context.Context, name string) error {
	start, asked := time.Now(), false
	for {
		j, err := m.find(ctx, name)
		switch {
		case err != nil:
			return err
		case j == nil && time.Since(start) > appearTime, j != nil && j.ended():
			return nil
		case j != nil && !asked:
			if err := m.call(ctx, http.MethodPatch, "/jobs/"+url.PathEscape(j.ID)+"?mode=cancel", nil); err != nil {
				return err
			}
			asked = true
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s: found job %s in state %s after %s, expected CANCELED", m.base, j.ID, j.State, cancelTime)
		}
	}
}

// find returns the job with a name, or nil.
func (m *jobManager) find(ctx context.Context, name string) (*flinkJob, error) {
	var all struct {
		Jobs []flinkJob `json:"jobs"`
	}
	if err := m.call(ctx, http.MethodGet, "/jobs/overview", &all); err != nil {
		return nil, err
	}
	for i := range all.Jobs {
		if all.Jobs[i].Name == name {
			return &all.Jobs[i], nil
		}
	}
	return nil, nil
}

// mostAnswer bounds an answer of Flink.
const mostAnswer = 16 << 20

func (m *jobManager) call(ctx context.Context, method, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, m.base+path, nil)
	if err != nil {
		return err
	}
	r, err := m.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }() // only read
	if r.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: found status %s, expected success", method, req.URL.Redacted(), r.Status)
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, mostAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("%s %s: %w; expected Flink's REST interface", method, req.URL.Redacted(), err)
	}
	return nil
}
