package serving

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/operation/appending"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tables writes the tables of a small graph with text ids.
func tables(t *testing.T, dir, nodes, edges string) {
	t.Helper()
	for name, text := range map[string]string{"graph.yaml": yaml, "users.csv": "id,age\n" + nodes, "follows.csv": "src,dst,since\n" + edges} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const yaml = `nodes:
  user: {table: users.csv, id: id, columns: {age: int64}}
edges:
  user:follows:user: {table: follows.csv, src: src, dst: dst, columns: {since: int64}}
`

// grown is a store of users who follow one another.
func grown(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tables(t, filepath.Join(dir, "monday"), "ada,36\nbob,41\nclu,7\n", "bob,ada,1\nclu,ada,2\nada,bob,3\n")
	out := filepath.Join(dir, "g.store")
	s, _, err := importing.Import(t.Context(), filepath.Join(dir, "monday"), out, option.Import{}, nil)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// asker is a client of a server.
type asker struct {
	t      *testing.T
	socket net.Conn
	number uint64
	// said is the last description.
	said answer.Description
}

// frame is a frame of a server.
type frame struct {
	kind   uint32
	number uint64
	body   []byte
}

func (f frame) failure(t *testing.T) answer.Failure {
	t.Helper()
	var failure answer.Failure
	if err := json.Unmarshal(f.body, &failure); err != nil || f.kind != 4 {
		t.Fatalf("found frame %d %q (%v), expected a failure", f.kind, f.body, err)
	}
	return failure
}

func dial(t *testing.T, path string) *asker {
	t.Helper()
	socket, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	a := &asker{t: t, socket: socket}
	a.describe(a.read())
	return a
}

func (a *asker) describe(f frame) {
	a.t.Helper()
	if err := json.Unmarshal(f.body, &a.said); err != nil || f.kind != 2 {
		a.t.Fatalf("found frame %d %q (%v), expected a description", f.kind, f.body, err)
	}
}

func (a *asker) send(kind uint32, text string) {
	a.t.Helper()
	a.number++
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	head = binary.LittleEndian.AppendUint32(head, kind)
	head = binary.LittleEndian.AppendUint64(head, a.number)
	if _, err := a.socket.Write(append(head, text...)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asker) read() frame {
	a.t.Helper()
	f, err := a.next()
	if err != nil {
		a.t.Fatal(err)
	}
	return f
}

func (a *asker) next() (frame, error) {
	var head [16]byte
	if _, err := io.ReadFull(a.socket, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint64(head[8:]), make([]byte, binary.LittleEndian.Uint32(head[:]))}
	_, err := io.ReadFull(a.socket, f.body)
	return f, err
}

// ask is the columns of an answer.
func (a *asker) ask(question string) map[string][]byte {
	a.t.Helper()
	a.send(1, question)
	f := a.read()
	if f.kind == 2 {
		a.describe(f)
		f = a.read()
	}
	if f.kind != 3 || f.number != a.number {
		a.t.Fatalf("found frame %d of question %d, %q, expected the answer to %d", f.kind, f.number, f.body, a.number)
	}
	return a.columns(f.body)
}

// columns are the columns of a batch.
func (a *asker) columns(body []byte) map[string][]byte {
	a.t.Helper()
	word := func(i int) int { return int(binary.LittleEndian.Uint64(body[8*i:])) }
	if word(3) != len(body) || word(5) != len(a.said.Columns) {
		a.t.Fatalf("found a batch of %d bytes and %d columns, expected %d and %d", word(3), word(5), len(body), len(a.said.Columns))
	}
	columns := map[string][]byte{}
	for i, c := range a.said.Columns {
		width := map[string]int{"int64": 8, "float32": 4, "int32": 4}[c.DType]
		for _, n := range c.Shape {
			width *= n
		}
		at := word(8 + 2*i)
		columns[c.Name] = body[at : at+word(9+2*i)*width]
	}
	return columns
}

// served runs a server until stop, which checks its end.
func served(t *testing.T, store string, a Answering, o option.Batches) (socket string, http string, said func() string, stop func()) {
	t.Helper()
	return servedPlans(t, store, a, []sampling.Plan{{Batches: o}})
}

// servedPlans is served by several plans.
func servedPlans(t *testing.T, store string, a Answering, plans []sampling.Plan) (socket string, http string, said func() string, stop func()) {
	t.Helper()
	var mu sync.Mutex
	var lines strings.Builder
	a.Socket = filepath.Join(t.TempDir(), "g.sock")
	a.Say = func(line string) { mu.Lock(); defer mu.Unlock(); fmt.Fprintln(&lines, line) }
	if a.Connections == 0 {
		a.Connections = 8
	}
	if a.MaxAnswer == 0 {
		a.MaxAnswer = 1 << 20
	}
	ready := make(chan string, 1)
	a.Ready = func(http string) error { ready <- http; return nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, store, plans) }()
	select {
	case http = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return a.Socket, http, func() string { mu.Lock(); defer mu.Unlock(); return lines.String() }, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("found %v, expected a server that ends without an error", err)
		}
		if _, err := os.Lstat(a.Socket); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("found the socket after the end (%v), expected it gone", err)
		}
	})
}

func batches() option.Batches {
	o := option.Batches{Run: option.Run{Threads: 2}}
	o.Features, o.EdgeFeatures = []string{"all"}, []string{"all"}
	o.Fanout, o.BatchSize, o.Epochs = []int{2, 2}, 2, 1
	return o
}

// Answers equal the batches of a loader.
func TestAnswers(t *testing.T) {
	store := grown(t)
	socket, _, said, stop := served(t, store, Answering{Waiting: 4}, batches())
	defer stop()
	opened, err := sampling.OpenAnswering(t.Context(), vfs.OS, store, []sampling.Plan{{Batches: batches()}}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	loader, find := opened.Loader(0), opened.Find(0)
	a := dial(t, socket)
	defer a.socket.Close()
	maker := loader.Source().Maker()
	for epoch := range uint64(3) {
		for _, ids := range [][]string{{"ada"}, {"clu"}, {"bob", "ada"}, {"ada", "ada"}} {
			text, _ := json.Marshal(ids)
			got := a.ask(fmt.Sprintf(`{"ids":%s,"epoch":%d,"batch":7}`, text, epoch))
			var seeds []int64
			for _, id := range ids {
				v, ok := find("user", id)
				if !ok {
					t.Fatal(id)
				}
				seeds = append(seeds, v)
			}
			n, err := maker.Of(seeds, epoch, 7)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]byte, n)
			maker.Write(want, 7)
			for name, column := range a.columns(want) {
				if !bytes.Equal(got[name], column) {
					t.Errorf("epoch %d, ids %s, column %s: found %v, expected %v", epoch, text, name, got[name], column)
				}
			}
			numbers, _ := json.Marshal(seeds)
			if same := a.ask(fmt.Sprintf(`{"seeds":%s,"epoch":%d,"batch":7}`, numbers, epoch)); !bytes.Equal(same["nodes/user/n_id"], got["nodes/user/n_id"]) {
				t.Errorf("found other nodes by number than by id")
			}
		}
	}
	if text := said(); text != "" {
		t.Errorf("found the log %q, expected none", text)
	}
}

// What cannot be answered is said, and the connection goes on; a violation of the protocol ends it.
func TestWrongQuestions(t *testing.T) {
	socket, _, said, stop := served(t, grown(t), Answering{MaxAnswer: 800}, batches())
	defer stop()
	a := dial(t, socket)
	for question, want := range map[string]string{
		`{}`:                                "question: found a question without seeds and ids",
		``:                                  "question: reading the request: EOF",
		`{"ids":["eve"]}`:                   `question: seed 0: found the id "eve", expected the id of a node of type user of the store`,
		`{"ids":[1.5]}`:                     "question: reading the request: found the id 1.5, expected a text or a whole number",
		`{"ids":["ada"],"seeds":[0]}`:       "question: found seeds and ids, expected one of them",
		`{"seeds":[3]}`:                     "question: seed 0: found node 3, expected 0 to 2",
		`{"seeds":[-1]}`:                    "question: seed 0: found node -1",
		`{"seeds":[]}`:                      "question: found 0 seeds, expected 1 to 2, the batch size of the server",
		`{"seeds":[0,1,2]}`:                 "question: found 3 seeds, expected 1 to 2, the batch size of the server",
		`{"seeds":[0],"times":[1]}`:         "question: found times of seeds and a plan without times",
		`{"seeds":[0],"first":1}`:           `question: reading the request: json: unknown field "first"`,
		`{"seeds":[0]}{}`:                   "question: reading the request: found more after byte",
		`{"ids":["ada"],"batch":-1}`:        "question: reading the request: json: cannot unmarshal number -1",
		`{"ids":["ada","bob"],"epoch":3}  `: "large: found an answer of",
	} {
		a.send(1, question)
		f := a.read()
		failure := f.failure(t)
		if text := failure.Code + ": " + failure.Error; !strings.Contains(text, want) || f.number != a.number {
			t.Errorf("%s: found %q of question %d, expected %q", question, text, f.number, want)
		}
	}
	if text := said(); text != "" {
		t.Errorf("found the log %q, expected none for wrong questions", text)
	}
	a.send(5, "")
	if failure := a.read().failure(t); failure.Code != "protocol" || !strings.Contains(failure.Error, "found a frame of kind 5, expected a question") {
		t.Errorf("found %v, expected a violation of the protocol", failure)
	}
	if f, err := a.next(); err == nil {
		t.Errorf("found %v, expected the end", f)
	}
	b := dial(t, socket)
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte{1, 0, 32, 0}, 1), 9)
	if _, err := b.socket.Write(head); err != nil {
		t.Fatal(err)
	}
	if failure := b.read().failure(t); !strings.Contains(failure.Error, "found a question of 2097153 bytes, expected at most 1048576") {
		t.Errorf("found %v, expected the bound of a question", failure)
	}
	_ = a.socket.Close()
	_ = b.socket.Close()
	stop() // a line comes after the message to the client
	if text := said(); strings.Count(text, fmt.Sprintf("client process %d: ", os.Getpid())) != 2 {
		t.Errorf("found the log %q, expected a line for each of two violations", text)
	}
}

// appendTuesday appends a node dan and its edges to a store, and waits until the server, whose messages are said, has taken them over.
func appendTuesday(t *testing.T, store string, said func() string) {
	t.Helper()
	tuesday := filepath.Join(t.TempDir(), "tuesday")
	tables(t, tuesday, "dan,50\n", "dan,ada,4\ndan,ada,5\n")
	if _, err := appending.Append(t.Context(), store, tuesday, option.Append{Run: option.Run{Threads: 1}}); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(said(), "calls get the version") {
		time.Sleep(time.Millisecond) // until the server has seen it
	}
}

// A new version is taken over without a pause; questions that wait in the connection are answered from it, after its description.
func TestRefresh(t *testing.T) {
	store := grown(t)
	socket, address, said, stop := served(t, store, Answering{Refresh: time.Millisecond, HTTP: "127.0.0.1:0", Waiting: 4}, batches())
	defer stop()
	a := dial(t, socket)
	defer a.socket.Close()
	first := a.said.Store
	a.ask(`{"ids":["ada"]}`)
	appendTuesday(t, store, said)
	a.ask(`{"ids":["dan"]}`)
	if a.said.Store == first {
		t.Errorf("found the version %s after an append, expected another one", first)
	}
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	a.ask(`{"ids":["dan","ada"]}`) // the folder that is gone stays open
	text := get(t, address, "/metrics", http.StatusOK)
	for _, want := range []string{
		`graphmill_questions_total{outcome="answered"} 3`, `graphmill_questions_total{outcome="busy"} 0`, "graphmill_store_versions_total 2",
		fmt.Sprintf(`graphmill_store_info{store=%q} 1`, a.said.Store), "graphmill_connections 1", "graphmill_question_seconds_count 3",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("found metrics without %s:\n%s", want, text)
		}
	}
	get(t, address, "/healthz", http.StatusOK)
	get(t, address, "/readyz", http.StatusOK)
	get(t, address, "/elsewhere", http.StatusNotFound)
}

func get(t *testing.T, address, path string, status int) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		t.Fatalf("%s: found status %d, %v, expected %d", path, r.StatusCode, err, status)
	}
	return string(text)
}

// More connections than are allowed are refused with a reason, and those that are open go on.
func TestConnections(t *testing.T) {
	socket, _, said, stop := served(t, grown(t), Answering{Connections: 1}, batches())
	defer stop()
	a := dial(t, socket)
	other, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	b := &asker{t: t, socket: other}
	if failure := b.read().failure(t); failure.Code != "busy" || !strings.Contains(failure.Error, "found 1 connections open, expected fewer") {
		t.Errorf("found %v, expected a refusal", failure)
	}
	a.ask(`{"ids":["ada"]}`)
	stop()
	if !strings.Contains(said(), "found 1 connections open") {
		t.Errorf("found the log %q, expected the refusal", said())
	}
	_ = b.socket.Close()
	_ = a.socket.Close()
}

// A path that is taken is an error that says by what; a socket that nobody answers at is replaced.
func TestSocket(t *testing.T) {
	store, dir := grown(t), t.TempDir()
	file, left := filepath.Join(dir, "file"), filepath.Join(dir, "left")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	socket, _, _, stop := served(t, store, Answering{}, batches())
	defer stop()
	info, err := os.Lstat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("found mode %v, %v, expected 0600", info.Mode(), err)
	}
	for path, want := range map[string]string{
		file:                           "found a file that is no socket",
		left:                           "found a server that listens there",
		socket:                         "found a server that listens there",
		filepath.Join(dir, "no", "s"):  "no such file",
		"/" + strings.Repeat("a", 103): "found a path of 104 bytes, expected at most 103",
	} {
		a := Answering{Socket: path, Connections: 1, MaxAnswer: 1 << 20, Ready: func(string) error { return nil }, Say: func(string) {}}
		if err := a.Serve(t.Context(), store, []sampling.Plan{{Batches: batches()}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", path, err, want)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := listenUnix(left)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
