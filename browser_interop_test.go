//go:build interop

package graphmill_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium. Its DevTools protocol runs over two pipes, one JSON object and a zero byte per message.
type browser struct {
	t       *testing.T
	out     io.Writer
	in      *bufio.Reader
	last    int
	session string
	loaded  bool
	console []string // messages of the page since the last open
}

// browserTime is the longest that a browser runs: one that does not answer fails its test.
const browserTime = 3 * time.Minute

// message is a call, an answer or an event of the protocol.
type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// startBrowser starts a Chromium with one empty page. A machine without Chromium fails the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Fatal("found neither chromium, chromium-browser nor google-chrome on the PATH, expected one to open the pages in; install it: apt-get install chromium")
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commands, toThem, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--force-color-profile=srgb", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	run.ExtraFiles = []*os.File{commands, theirs} // 3 and 4
	// Its helper processes hold this pipe too, and write to the profile until they end, so that only a Wait for all of them lets the
	// folder be removed.
	run.Stderr = io.Discard
	run.WaitDelay = browserTime // against a hang
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	last := time.AfterFunc(browserTime, func() { _ = run.Process.Kill() }) // against a hang
	t.Cleanup(func() {
		last.Stop()
		_ = toThem.Close() // a Chromium whose pipe ends stops
		_ = run.Process.Kill()
		_ = run.Wait()
		_ = ours.Close()
	})
	for _, f := range run.ExtraFiles {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b := &browser{t: t, out: toThem, in: bufio.NewReaderSize(ours, 1<<20)}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method of the protocol and decodes its answer. It notes errors that the page writes to its console.
func (b *browser) call(method string, params map[string]any, answer any) {
	b.t.Helper()
	b.last++
	text, err := json.Marshal(message{ID: b.last, SessionID: b.session, Method: method, Params: params})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		if m.ID != b.last {
			b.note(m)
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if answer != nil {
			if err := json.Unmarshal(m.Result, answer); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *browser) next() message {
	b.t.Helper()
	text, err := b.in.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// note keeps events that tell that the page is loaded, and of its errors.
func (b *browser) note(m message) {
	b.loaded = b.loaded || m.Method == "Page.loadEventFired"
	if m.Method == "Runtime.exceptionThrown" || m.Method == "Runtime.consoleAPICalled" || m.Method == "Log.entryAdded" {
		b.console = append(b.console, fmt.Sprintf("%s %v", m.Method, m.Params))
	}
}

// open opens a page at a width in CSS pixels, and waits until it is loaded.
func (b *browser) open(url string, width int, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.console = nil
	b.loaded = false
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	for !b.loaded {
		b.note(b.next())
	}
}

// eval runs JavaScript in the page, and decodes what it returns or promises.
func (b *browser) eval(script string, answer any) error {
	b.t.Helper()
	var got struct {
		Result    struct{ Value json.RawMessage }
		Exception *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &got)
	if got.Exception != nil {
		return errors.New(strings.TrimSpace(got.Exception.Text + " " + got.Exception.Exception.Description))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got.Result.Value, answer)
}

// screenshot returns the whole page as a PNG.
func (b *browser) screenshot() []byte {
	b.t.Helper()
	var got struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &got)
	png, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}
