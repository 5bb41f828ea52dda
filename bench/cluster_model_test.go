package bench_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modelled runs cluster_model.py.
func modelled(t *testing.T, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("found no python3, expected it for cluster_model.py")
	}
	// The test runs again after a change of these.
	for _, name := range []string{"cluster_model.py", "cluster_runs.json"} {
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-B", "cluster_model.py"}, args...)...).CombinedOutput()
	return string(out), err
}

// TestClusterModelCheck checks the predictions for the runs that were not fitted: closely where they do not depend on what
// else the machine does. Times of the JVM and of the wall do; of memory the model knows the largest part.
func TestClusterModelCheck(t *testing.T) {
	text, err := modelled(t, "--check", "cluster_runs.json", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var result struct {
		Check []struct {
			Run, What string
			Error     float64
		}
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatal(err)
	}
	bounds := map[string]float64{"request_bytes": 0.03, "answer_bytes": 0.03, "go_cpu_s": 0.25, "worker_bytes": 0.5}
	seen := map[string]int{}
	for _, r := range result.Check {
		seen[r.What]++
		if bound, ok := bounds[r.What]; ok && !(math.Abs(r.Error) <= bound) {
			t.Errorf("%s, %s: found an error of %+.0f %%, expected at most %.0f %%", r.Run, r.What, 100*r.Error, 100*bound)
		}
	}
	for what := range bounds {
		if seen[what] < 2 {
			t.Errorf("found %d predictions of %s, expected several", seen[what], what)
		}
	}
}

// TestClusterModelForecast checks what must hold of every forecast, and faults of the input.
func TestClusterModelForecast(t *testing.T) {
	text, err := modelled(t, "--forecast", "cluster_runs.json", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var result struct {
		Forecast []struct {
			Job      string
			Machines int
			Edges    uint64
			Wall     float64 `json:"wall_s"`
			CPU      float64 `json:"cpu_s"`
			Moved    float64
			Held     float64 `json:"held_bytes"`
		}
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Forecast) == 0 {
		t.Fatal("found no forecast, expected some")
	}
	most := uint64(0)
	for _, r := range result.Forecast {
		most = max(most, r.Edges)
		cores := float64(16 * r.Machines)
		if r.Wall < r.CPU/cores || r.Moved < float64(r.Edges)/2 || r.Held <= 0 {
			t.Errorf("%s: found %+v, expected at least the CPU time over %.0f cores and some bytes for each edge", r.Job, r, cores)
		}
	}
	if most < 1e11 {
		t.Errorf("found at most %d edges, expected 10^11", most)
	}
	empty := filepath.Join(t.TempDir(), "runs.json")
	if err := os.WriteFile(empty, []byte(`{"runs": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := modelled(t, "--check", empty); err == nil || !strings.Contains(text, "found 0 local runs") {
		t.Errorf("found %v and %q, expected an error about too few runs", err, text)
	}
}
