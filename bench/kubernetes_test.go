//go:build interop

package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The manifests of Flink on Kubernetes, and of steps without an engine, which share the claim of storage.
const (
	manifests     = "../beam/flink/kubernetes"
	stepManifests = "../beam/steps/kubernetes"
)

// TestPeerKubernetes checks the manifests by the schemas of Kubernetes and against each other, and that faults are found.
func TestPeerKubernetes(t *testing.T) {
	peers := exec.CommandContext(t.Context(), "./peers.sh", "kubernetes")
	peers.Stderr = os.Stderr
	out, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh kubernetes: %v", err)
	}
	python := strings.TrimSpace(string(out))
	check := func(dir string) (string, error) {
		args := []string{"-B", filepath.Join(manifests, "check.py"), dir}
		if _, err := os.Stat(filepath.Join(dir, "storage.yaml")); err != nil {
			args = append(args, filepath.Join(manifests, "storage.yaml"))
		}
		out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
		return string(out), err
	}
	for _, dir := range []string{manifests, stepManifests} {
		if text, err := check(dir); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, test := range []struct{ name, file, old, broken, want string }{
		{"a rule without an action", "steps.yaml", "action: FailJob", "actions: FailJob", "'action' is a required property"},
		{"a Job without indexes", "steps.yaml", "completionMode: Indexed", "completionMode: NonIndexed", "found no variable JOB_COMPLETION_INDEX"},
		{"an index of another number", "steps.yaml", "INDEX)/64", "INDEX)/32", "found --index $(JOB_COMPLETION_INDEX)/32"},
		{"another number of processes", "submit.yaml", "- steps\n            - --parallelism\n            - \"64\"", "- steps\n            - --parallelism\n            - \"32\"", "expected 32, the --parallelism"},
		{"another work folder", "steps.yaml", ".samples.work", ".sample.work", "expected the work folder of /shared/samples"},
		{"a key that Kubernetes does not have", "jobmanager.yaml", "replicas: 1", "replica: 1", "replica"},
		{"a value of a wrong type", "taskmanager.yaml", "replicas: 4", "replicas: four", "four"},
		{"a ConfigMap that no manifest makes", "jobmanager.yaml", "{name: flink-config}", "{name: flink}", "found no ConfigMap flink"},
		{"a claim that no manifest makes", "sample.yaml", "graphmill-shared", "shared", "found no PersistentVolumeClaim shared"},
		{"a volume that a pod lacks", "jobserver.yaml", "- name: tmp\n", "- name: temp\n", "found no volumes ['tmp']"},
		{"a selector without pods", "jobserver.yaml", "selector: {app: graphmill, component: jobserver}", "selector: {app: graphmill, component: jobs}", "found 0 pods"},
		{"an address without a Service", "sample.yaml", "flink-jobserver:8099", "flink-jobserver:8098", "found address flink-jobserver:8098"},
		{"a variable that is not set", "jobserver.yaml", "- name: POD_IP", "- name: IP", "found no variable POD_IP"},
		{"workers that no pod serves", "sample.yaml", "localhost:50000", "localhost:50001", "found no worker service"},
		{"a heap that differs from the configuration", "taskmanager.yaml", "-Xmx4224m", "-Xmx8448m", "found -Xmx of 8448 MiB, expected 4224 MiB"},
		{"memory beyond the container", "config.yaml", "managed.size: 4096m", "managed.size: 8192m", "found 15872 MiB"},
		{"a setting that differs from scripts/flink", "config.yaml", "attempts: 10", "attempts: 3", "attempts: 3, expected 10"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, from := t.TempDir(), manifests
			if test.file == "steps.yaml" || test.file == "submit.yaml" {
				from = stepManifests
			}
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, test.file)
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.Replace(string(b), test.old, test.broken, 1)
			if broken == string(b) {
				t.Fatalf("%s: found no %q, expected it", test.file, test.old)
			}
			if err := os.WriteFile(name, []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
			if text, err := check(dir); err == nil || !strings.Contains(text, test.want) {
				t.Errorf("found %v and %q, expected a fault with %q", err, text, test.want)
			}
		})
	}
}
