package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// stepFiles are the files for schedulers.
const stepFiles = "../../steps"

// sbatch plays Slurm's sbatch: it refuses a job whose dependency did not end well, runs all indexes of an array at the same time, and prints the number of the job. With
// SBATCH_KILL, the first index of a stage of this name is killed once, and queued again, as on a node that dies.
const sbatch = `#!/bin/sh
set -eu
array= after= name=
while :; do
  case $1 in
    --array=0-*) array=${1#--array=0-} ;;
    --dependency=afterok:*) after=${1#--dependency=afterok:} ;;
    --job-name=*) name=${1#--job-name=graphmill } ;;
    --parsable | --requeue | --kill-on-invalid-dep=yes) ;;
    -*) echo "sbatch: found $1" >&2; exit 1 ;;
    *) break ;;
  esac
  shift
done
id=$(($(ls "$JOBS" | wc -l) + 1))
: >"$JOBS/$id"
echo "$id $name after=$after array=$array" >>"$JOBS.log"
[ -z "$after" ] || [ "$(cat "$JOBS/$after")" = 0 ] || { echo "sbatch: job $after did not end well" >&2; exit 1; }
cp "$1" "$JOBS.script.$id"
shift
status=0
if [ -z "$array" ]; then
  sh "$JOBS.script.$id" "$@" >&2 || status=$?
else
  if [ "$name" = "${SBATCH_KILL:-}" ]; then
    SLURM_ARRAY_TASK_ID=0 sh "$JOBS.script.$id" "$@" & pid=$!
    kill -9 $pid
    wait $pid || true
  fi
  pids=
  for i in $(seq 0 "$array"); do
    SLURM_ARRAY_TASK_ID=$i sh "$JOBS.script.$id" "$@" & pids="$pids $!"
  done
  for p in $pids; do wait "$p" || status=$?; done
fi
echo "$status" >"$JOBS/$id"
echo "$id"
`

// The scripts for Slurm make the output of one process, on a shell that plays Slurm.
func TestSlurm(t *testing.T) {
	for _, name := range []string{"sh", "seq", "cut"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("found no %s, expected it for the scripts", name)
		}
	}
	store := shopStore(t)
	fanout := []string{"--seeds", "user", "--direction", "out", "--fanout", "4,3,2"}
	one := filepath.Join(t.TempDir(), "one")
	alone(t, one, append([]string{store}, fanout...)...)
	parts, division := filepath.Join(t.TempDir(), "parts"), []string{"--parts", "3", "--seed", "4"}
	partitionAlone(t, slices.Concat([]string{store, "--out", parts}, division)...)
	for name, c := range map[string]struct {
		args   []string
		one    string
		stages []string
	}{
		"sample": {slices.Concat([]string{"sample", store, "--method", "shuffle"}, fanout), one, []string{"start", "range 1", "range 2", "assemble"}},
		"import": {[]string{"import", filepath.Dir(store), "--both"}, store, []string{"scan", "match", "edges", "sort", "other", "write"}},
		// Its jobs come one after the other, each planned by the end of the one before.
		"partition": {slices.Concat([]string{"partition", store}, division), parts, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed := "want-1-02"
			if c.stages != nil {
				killed = c.stages[1]
			} else {
				proof.OnlyLong(t, "some hundred processes, of a division")
			}
			dir, slurm := t.TempDir(), t.TempDir()
			jobs := filepath.Join(slurm, "jobs")
			if err := os.Mkdir(jobs, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(slurm, "sbatch"), []byte(sbatch), 0o755); err != nil {
				t.Fatal(err)
			}
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out")
			cmd := exec.CommandContext(t.Context(), filepath.Join(stepFiles, "slurm", "submit.sh"), slices.Concat([]string{"3"}, c.args, []string{"--out", out})...)
			cmd.Env = append(os.Environ(), "PATH="+slurm+":"+os.Getenv("PATH"), "JOBS="+jobs, "SBATCH_KILL="+killed, "GRAPHMILL_BEAM="+program)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got, want := manifest(t, out), manifest(t, c.one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			onlyOutput(t, dir, "out")
			if c.stages == nil {
				return
			}
			log, err := os.ReadFile(jobs + ".log")
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			for i, stage := range c.stages {
				after := ""
				if i > 0 {
					after = fmt.Sprint(i)
				}
				fmt.Fprintf(&want, "%d %s after=%s array=2\n", i+1, stage, after)
			}
			fmt.Fprintf(&want, "%d end after=%d array=\n", len(c.stages)+1, len(c.stages))
			if string(log) != want.String() {
				t.Errorf("found the jobs\n%sexpected\n%s", log, want.String())
			}
		})
	}
}

// An error of a step ends the jobs that follow, and a wrong use is an error.
func TestSlurmFails(t *testing.T) {
	script := filepath.Join(stepFiles, "slurm", "submit.sh")
	for want, args := range map[string][]string{"usage: submit.sh": {"3"}, "found no --out": {"3", "sample", "g.store"}} {
		if text, err := exec.CommandContext(t.Context(), script, args...).CombinedOutput(); err == nil || !strings.Contains(string(text), want) {
			t.Errorf("found %v, %q, expected an error with %q", err, text, want)
		}
	}
}

// containerArgs are the arguments of the first container of a manifest.
func containerArgs(t *testing.T, name string) (args []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(stepFiles, "kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "          args:\n")
	if !ok {
		t.Fatalf("%s: found no arguments", name)
	}
	for line := range strings.Lines(text) {
		m := regexp.MustCompile(`^            - "?(.*?)"?\n$`).FindStringSubmatch(line)
		if m == nil {
			break
		}
		args = append(args, m[1])
	}
	return args
}

// The commands of the pods make the output of one process: in the long form as many as there are completions, with the index that Kubernetes gives them.
func TestKubernetesSteps(t *testing.T) {
	shop := shopStore(t)
	shared := t.TempDir()
	if err := os.Rename(shop, filepath.Join(shared, "g.store")); err != nil {
		t.Fatal(err)
	}
	here := func(args []string) (list []string) {
		for _, a := range args {
			list = append(list, strings.Replace(a, "/shared/", shared+"/", 1))
		}
		return list
	}
	submit, step := here(containerArgs(t, "submit.yaml")), here(containerArgs(t, "steps.yaml"))
	submit = append(submit, "--seeds", "user", "--direction", "out")
	completions := proof.Count(t, 8, 64)
	submitter := start(t, append(submit, "--parallelism", fmt.Sprint(completions))...)
	var steps []*process
	for i := range completions {
		args := slices.Clone(step)
		for k := range args {
			args[k] = strings.ReplaceAll(args[k], "$(JOB_COMPLETION_INDEX)/64", fmt.Sprintf("%d/%d", i, completions))
		}
		steps = append(steps, start(t, args...))
	}
	if text, status := submitter.end(); status != 0 {
		t.Errorf("submitter: found status %d\n%s", status, text)
	}
	for i, s := range steps {
		_ = s.cmd.Process.Kill() // one that began when the run was over waits for another
		if text, status := s.end(); status > 0 {
			t.Errorf("step %d: found status %d\n%s", i, status, text)
		}
	}
	one := filepath.Join(t.TempDir(), "one")
	alone(t, one, append([]string{filepath.Join(shared, "g.store"), "--seeds", "user", "--direction", "out"}, "--fanout", "10,5", "--scope", "seed", "--format", "tfrecord", "--shards", "64")...)
	if got, want := manifest(t, filepath.Join(shared, "samples")), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyOutput(t, shared, "g.store", "samples")
}
