package clients

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// log is the stderr of a server. It may be read while the server writes.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// process is a running server.
type process struct {
	*exec.Cmd
	stderr log
	ended  chan struct{} // closed at its end
}

// begin starts a server. It is killed at the end of the test. Its garbage collector runs often, so that its memory is what it holds, and
// little garbage, also on a busy machine.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "GOGC=20")
	p := &process{Cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// alive fails if the server has ended.
func (p *process) alive(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
		t.Fatalf("found a server that ended (%s):\n%s", p.ProcessState, p.stderr.String())
	default:
	}
}

// over waits for the end of the server.
func (p *process) over(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute): // against a hang
		t.Fatalf("found a server that goes on 5 s after its end was asked for:\n%s", p.stderr.String())
	}
}

// usage is what a process holds.
type usage struct {
	files, threads int
	resident       int64 // bytes of memory of its own; pages of rings are not counted
	cpu            time.Duration
}

func (p *process) usage(t *testing.T) usage {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(p.Process.Pid))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	u := usage{files: len(files)}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "Threads":
			u.threads = int(n)
		case "RssAnon":
			u.resident = n << 10
		}
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		u.cpu += time.Duration(n) * 10 * time.Millisecond
	}
	return u
}

// returns waits until the server has the descriptors of before again, and checks its memory and what it takes while it is idle.
func (p *process) returns(t *testing.T, before usage, grown int64) {
	t.Helper()
	var now usage
	for range 6000 {
		p.alive(t)
		if now = p.usage(t); now.files <= before.files {
			break
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
	if now.files > before.files {
		t.Errorf("found %d descriptors after the attack, expected %d as before", now.files, before.files)
	}
	if now.resident > before.resident+grown {
		t.Errorf("found %d bytes of memory after the attack, expected at most %d more than before (%d)", now.resident, grown, before.resident)
	}
	if command.Crashed(p.stderr.String()) {
		t.Errorf("found a crash in the log:\n%s", p.stderr.String())
	}
}

// idle checks that a server without work takes no processor time.
func (p *process) idle(t *testing.T) {
	t.Helper()
	time.Sleep(200 * time.Millisecond) // so that the server comes to rest
	before := p.usage(t).cpu
	time.Sleep(time.Second) // the second of which the processor time is taken
	if d := p.usage(t).cpu - before; d > 50*time.Millisecond {
		t.Errorf("found %s of processor time in a second without work, expected none", d)
	}
}

// named checks that the log names a client and a reason in one line.
func (p *process) named(t *testing.T, client, reason string) {
	t.Helper()
	for range 6000 {
		for line := range strings.Lines(p.stderr.String()) {
			if strings.Contains(line, client) && strings.Contains(line, reason) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	t.Errorf("found no line with %q and %q in the log:\n%s", client, reason, p.stderr.String())
}

// nextSecond waits until a second begins, and until the server has seen it.
func nextSecond() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + 5*time.Millisecond))) // until the next second
}

// shared is the files of shared memory and the abstract sockets of the product.
func shared(t *testing.T) []string {
	t.Helper()
	var all []string
	files, err := os.ReadDir("/dev/shm")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, f.Name())
	}
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sockets)) {
		if i := strings.Index(line, "@graphmill"); i >= 0 {
			all = append(all, strings.TrimSpace(line[i:]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// memory are the names of the feed's shared memory.
var memory = regexp.MustCompile("graphmill-(feed|ring|batch)")

// left checks that a server of this process id left nothing in shared memory and no socket. The kernel removes them a moment after the
// end of the process.
func left(t *testing.T, pid int, before []string) {
	t.Helper()
	var names []string
	for range 6000 {
		names = names[:0]
		for _, name := range shared(t) {
			if strings.Contains(name, fmt.Sprintf("graphmill-feed-%d-", pid)) || !slices.Contains(before, name) && memory.MatchString(name) && !strings.HasPrefix(name, "@") {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
	t.Errorf("found %v after the end of the server, expected nothing", names)
}

// randomStore makes a store of a random graph of 2,000 nodes, whose edges have a weight.
func randomStore(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	state := uint32(1)
	for v := range 2000 {
		for range 8 {
			state = state*1664525 + 1013904223
			fmt.Fprintf(&text, "%d,%d,%d.5\n", v, state>>8%2000, state>>20)
		}
	}
	edges := filepath.Join(dir, "edges.csv")
	if err := os.WriteFile(edges, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "g.store")
	r := command.Call{Program: command.Build(t, "graphmill"), Args: []string{"import", edges, "--columns", "src,dst,weight:float32", "--duplicate-edges", "keep", "--out", out}}.Run(t)
	if r.Status != 0 {
		t.Fatal(r)
	}
	return out
}

// open raises the limit of open files of this process as far as it goes.
func open(t *testing.T) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}
