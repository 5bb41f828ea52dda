package metrics

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// get is a page of a set, over HTTP.
func get(t *testing.T, address, path string) (status int, text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// Every line is one of Prometheus's text format, labels have any text, and counts are brought up to date before they are read.
func TestSet(t *testing.T) {
	s := New()
	odd := s.Counter("graphmill_odd_total", "plan", "a\"b\\c\nd ü", "outcome", "")
	odd.Add(3)
	s.Histogram("graphmill_odd_seconds").Update(.003)
	s.Gauge("graphmill_odd", func() float64 { return 1.5 }, "kind", "x")
	s.Before(odd.Inc)
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = s.Beside(t.Context(), l, func(context.Context) error {
		if status, _ := get(t, Address(l), "/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("found status %d before the store is open, expected 503", status)
		}
		if status, _ := get(t, Address(l), "/healthz"); status != http.StatusOK {
			t.Errorf("found status %d, expected 200", status)
		}
		s.Ready(Store{Name: "abc", Segments: 2, Merged: 7})
		if status, _ := get(t, Address(l), "/readyz"); status != http.StatusOK {
			t.Errorf("found status %d once it is open, expected 200", status)
		}
		_, text := get(t, Address(l), "/metrics")
		for _, want := range []string{
			`graphmill_odd_total{plan="a\"b\\c\nd ü"} 4`, `graphmill_odd_seconds_bucket{le="0.005"} 1`, `graphmill_odd_seconds_bucket{le="0.0025"} 0`, `graphmill_odd{kind="x"} 1.5`,
			`graphmill_store_info{store="abc"} 1`, `graphmill_store_segments 2`, `graphmill_store_merged_bytes 7`, "# TYPE graphmill_odd_seconds histogram", "# TYPE graphmill_odd_total counter",
		} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("found no %s in\n%s", want, text)
			}
		}
		line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_0-9]+.*|[a-z_0-9]+(\{[a-zA-Z_]+="([^"\\\n]|\\.)*"(, ?[a-zA-Z_]+="([^"\\\n]|\\.)*")*\})? [-+0-9.eEINFa]+)$`)
		for in := bufio.NewScanner(strings.NewReader(text)); in.Scan(); {
			if !line.MatchString(in.Text()) {
				t.Errorf("found the line %q, expected one of Prometheus's text format", in.Text())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The page ends with the work, whose error it hands on; an address that is taken is named.
func TestBeside(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), Address(l)); err == nil || !strings.Contains(err.Error(), "expected HOST:PORT of this machine that is free") {
		t.Errorf("found %v for an address that is taken, expected what to do", err)
	}
	failed := errors.New("failed")
	if err := New().Beside(t.Context(), l, func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("found %v, expected the error of the work", err)
	}
	if none, err := Listen(t.Context(), ""); none != nil || err != nil || New().Beside(t.Context(), none, func(context.Context) error { return nil }) != nil {
		t.Errorf("found %v, %v without an address, expected no page", none, err)
	}
}
