//go:build cluster

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
)

// TestFlinkKills kills each process of a Flink of two TaskManagers under each job.
func TestFlinkKills(t *testing.T) {
	proof.OnlyLong(t, "a Flink of its own, whose servers die")
	d := up(t, "flink", "--rest-port", restPort, "--task-managers", "2", "--slots", "2")
	registered := func() bool { return d.managers() == 2 }
	killsOn(t, d, onCluster, proof.Count(t, 0, 30), []victim{
		{"worker process", d.killWorkers, nil},
		{"worker service", d.killServer("worker", workerPort), answers(workerPort)},
		{"TaskManager", d.killServer("taskmanager-1", ""), registered},
		{"job server", d.killServer("jobserver", jobPort), answers(jobPort)},
		{"JobManager", d.killServer("jobmanager", restPort), registered},
	})
}

// TestSparkKills kills each process of a Spark of a master and a worker under each job.
func TestSparkKills(t *testing.T) {
	proof.OnlyLong(t, "a Spark of its own, whose servers die")
	d := up(t, "spark", "--master-port", "18377", "--page-port", "18380")
	where := []string{"--runner", "spark", "--endpoint", "localhost:" + jobPort, "--workers", "localhost:" + workerPort}
	killsOn(t, d, where, proof.Count(t, 0, 30), []victim{
		{"worker process", d.killWorkers, nil},
		{"executor", func() func() { d.killChildren("spark-worker"); return nil }, nil},
		{"job server", d.killServer("jobserver", jobPort), answers(jobPort)},
		{"Spark's worker", d.killServer("spark-worker", ""), d.registered("Successfully registered with master")},
		{"master", d.killServer("master", "18377"), answers("18377")},
	})
}

// victim is a process that a test kills. kill returns a function that starts it again, nil where the engine does that; ready says that it is back.
type victim struct {
	name  string
	kill  func() (mend func())
	ready func() bool
}

// killsOn runs the jobs of TestKills on an engine, kills a process of it at a seeded moment of each, starts that again, and gives the same command until the
// output is there. It has the bytes of an undisturbed run, no task that was whole at the kill is done again, and nothing else is left.
func killsOn(t *testing.T, d *deployment, where []string, count int, victims []victim) {
	t.Helper()
	jobs := killJobs(t, shopStore(t))
	kinds := slices.Sorted(maps.Keys(jobs))
	whole, kills := 0, map[string]int{}
	for seed := range count {
		kind, v := kinds[seed%len(kinds)], victims[seed%len(victims)]
		t.Run(fmt.Sprintf("%d %s of %s", seed, v.name, kind), func(t *testing.T) {
			r := rand.New(rand.NewPCG(45, uint64(seed)))
			out := filepath.Join(t.TempDir(), "out")
			args := slices.Concat(jobs[kind].args, []string{"--out", out, "--parallelism", "2", "--time-limit", "4m"}, where)
			k := &killRun{t: t, r: r, out: out, submitter: start(t, args...)}
			again := newTasksAgain(t)
			defer again.close()
			begun := time.Now()
			if k.until(r.IntN(jobs[kind].tasks)) {
				time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) // a random moment of a task
				mend := v.kill()
				kept := again.look(k.work())
				if mend != nil {
					mend()
				}
				for end := time.Now().Add(time.Minute); v.ready != nil && !v.ready(); time.Sleep(100 * time.Millisecond) { // between two looks
					if time.Now().After(end) {
						t.Fatalf("found no %s a minute after its start", v.name)
					}
				}
				kills[v.name]++
				whole += kept
				t.Logf("killed with %d whole tasks, after %s", kept, time.Since(begun).Round(time.Millisecond))
			}
			for commands := 1; ; commands++ {
				text, status := k.submitter.end()
				if status == 0 {
					t.Logf("%d commands, %s", commands, time.Since(begun).Round(time.Millisecond))
					break
				}
				if text == "" {
					t.Errorf("command %d: found status %d and no text", commands, status)
				}
				if commands == 1 {
					t.Log(strings.TrimSpace(text))
				}
				if commands == 60 {
					t.Fatalf("command %d: found status %d\n%s", commands, status, text)
				}
				time.Sleep(time.Second) // between two commands: the job of a lost server may run on, and no other one begins beside it
				k.submitter = start(t, args...)
			}
			if got, want := manifest(t, out), manifest(t, jobs[kind].one); got != want {
				t.Errorf("found\n%s\nexpected\n%s", got, want)
			}
			if got, want := filesBelow(t, out), filesBelow(t, jobs[kind].one); !slices.Equal(got, want) {
				t.Errorf("found the files %q, expected %q", got, want)
			}
			onlyOutput(t, filepath.Dir(out), "out")
			for _, name := range again.names() {
				t.Errorf("found that task %s was done again, which was whole at the kill", name)
			}
		})
	}
	t.Logf("kills: %v; tasks that were whole at them: %d", kills, whole)
}

// killServer is a function that kills a process of the deployment, which listens at a port if it is not empty, and returns one that starts it again as it was.
func (d *deployment) killServer(name, port string) func() func() {
	return func() func() {
		d.t.Helper()
		pid := d.pid(name)
		var of [2][]string // arguments and environment
		for i, file := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			if err != nil {
				d.t.Fatal(err)
			}
			of[i] = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			d.t.Fatal(err)
		}
		for port != "" && answers(port)() {
			time.Sleep(time.Millisecond) // while its threads end
		}
		return func() {
			log, err := os.OpenFile(filepath.Join(d.dir, name+".log"), os.O_TRUNC|os.O_WRONLY, 0) // so that it tells of this process alone
			if err != nil {
				d.t.Fatal(err)
			}
			cmd := exec.Command(of[0][0], of[0][1:]...)
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, of[1], log, log
			if err := cmd.Start(); err != nil {
				d.t.Fatal(err)
			}
			_ = log.Close() // it has its own
			d.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			f, err := os.OpenFile(filepath.Join(d.dir, "processes"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				d.t.Fatal(err)
			}
			fmt.Fprintf(f, "%s %d 0 -\n", name, cmd.Process.Pid)
			if err := f.Close(); err != nil {
				d.t.Fatal(err)
			}
		}
	}
}

// killWorkers kills the workers of a job, whose service goes on.
func (d *deployment) killWorkers() func() {
	d.killChildren("worker")
	return nil
}

// killChildren kills the children of a process of the deployment. There may be none.
func (d *deployment) killChildren(name string) {
	d.t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", d.pid(name)))
	for _, file := range files {
		b, _ := os.ReadFile(file) // whose thread may have ended
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // which may have ended
			}
		}
	}
}

// answers says whether something listens at a port.
func answers(port string) func() bool {
	return func() bool {
		c, err := net.Dial("tcp", "localhost:"+port)
		return err == nil && c.Close() == nil
	}
}

// registered says whether the log of Spark's worker has a text.
func (d *deployment) registered(text string) func() bool {
	return func() bool {
		b, _ := os.ReadFile(filepath.Join(d.dir, "spark-worker.log"))
		return strings.Contains(string(b), text)
	}
}
