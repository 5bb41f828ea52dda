package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// Hostile names add no element, attribute or control character to the page.
func TestHostileNamesStayText(t *testing.T) {
	html := string(must(hostileReport().HTML()))
	for _, bad := range []string{"<script", "</title></svg>", "{{.}}<", "\x00", "\x1b", "\u202e", "]]>", "javascript:"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	known := regexp.MustCompile(`^/?(!doctype|html|head|meta|link|title|style|body|main|header|footer|section|div|p|span|b|i|h1|h2|pre|code|dl|dt|dd|ul|li|table|caption|thead|tbody|tr|th|td|wbr|figure|a|svg|path|circle|text|rect|line|desc)$`)
	for _, m := range regexp.MustCompile(`<([^\s>]+)`).FindAllStringSubmatch(html, -1) {
		if !known.MatchString(m[1]) {
			t.Errorf("the page has the element %q", m[0])
		}
	}
	for _, text := range [][]byte{hostileReport().text(false), must(hostileReport().JSON())} {
		if i := bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("control character at %d of %q", i, text)
		}
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	for _, r := range []*Report{importReport(), sampleReport(), hostileReport(), emptyReport()} {
		html := string(must(r.HTML()))
		alone := string(must(r.Page()))
		if strings.Contains(alone, `href="report.json"`) || len(alone) < len(html)-200 {
			t.Error("the page alone points to report.json, or is another page")
		}
		for _, m := range regexp.MustCompile(`(?i)(src=|href|url\(|@import|@font-face|<script)[^>]{0,40}`).FindAllString(html, -1) {
			if m != `href="data:,"` && !strings.HasPrefix(m, `href="report.json"`) {
				t.Errorf("the page asks for %q", m)
			}
		}
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if ids[m[1]] {
				t.Errorf("two elements have the id %q", m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`(?:labelledby|describedby)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if !ids[m[1]] {
				t.Errorf("no element has the id %q", m[1])
			}
		}
		for _, svg := range regexp.MustCompile(`(?s)<svg role="img".*?</svg>`).FindAllString(html, -1) {
			dec := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("an SVG is not well formed: %v", err)
				}
			}
			if strings.Contains(svg, "style=") || strings.Contains(svg, "font") || strings.Contains(svg, "fill=") {
				t.Error("an SVG has a colour or font of its own")
			}
			if !strings.Contains(svg, "<title id=") || !strings.Contains(svg, "<desc id=") {
				t.Error("an SVG has no title or no description")
			}
		}
	}
}

func TestLineRepeatsTheCommand(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, ""},
		{[]string{"/opt/bin/graphmill", "sample", "--fanout=cites=15,10;writes=5,5"}, "graphmill sample '--fanout=cites=15,10;writes=5,5'"},
		{[]string{"graphmill", "", "=x", "~", "it's", "a b", "$HOME", "`id`", "a*"}, `graphmill '' '=x' '~' 'it'\''s' 'a b' '$HOME' '` + "`id`" + `' 'a*'`},
		{[]string{"graphmill", "a\nb", "\xff7", "tab\t'\\"}, `graphmill $'a\012b' $'\3777' $'tab\011\'\\'`},
		{[]string{"graphmill", "naïve", "\u202e"}, `graphmill 'naïve' $'\342\200\256'`},
	} {
		if got := New("x", "", "", c.argv).Line; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestShellReadsTheLineBack(t *testing.T) {
	words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		b := rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 12).Draw(t, "bytes")
		return string(b)
	}), 200, 200).Example(1)
	words = append(words, "", "~", "=ls", "-n", "{a,b}", "!!", "#", "é", "a'b")
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = QuoteWord(w)
	}
	cmd := exec.Command("bash", "-c", `printf '%s\0' `+strings.Join(quoted, " "))
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Join(words, "\x00")+"\x00", string(out)); d != "" {
		t.Errorf("bash read (-want +got): %s", d)
	}
}

// A report that is read back gives the same page.
func TestParseAndRebuild(t *testing.T) {
	r := importReport()
	back, err := Parse(must(r.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back, cmp.AllowUnexported(Histogram{}, input{})); d != "" {
		t.Errorf("read back: %s", d)
	}
	if !bytes.Equal(must(r.HTML()), must(back.HTML())) {
		t.Error("the rebuilt page is another page")
	}
	if _, err := Parse([]byte(`{"format":1,"what":2}`)); !errors.Is(err, errInvalid) {
		t.Errorf("got %v, want errInvalid", err)
	}
}

func TestInvalidReportsAreRefused(t *testing.T) {
	for name, damage := range map[string]func(*Report){
		"format":        func(r *Report) { r.Format = 2 },
		"threads":       func(r *Report) { r.Threads = -1 },
		"elapsed":       func(r *Report) { r.ElapsedSeconds = math.NaN() },
		"number":        func(r *Report) { r.In("x", Number(math.Inf(1), "")) },
		"kinds":         func(r *Report) { v := Count(1, ""); v.Text = new(string); r.Out("x", v) },
		"unit":          func(r *Report) { r.Head("x", Value{Unit: "edges"}) },
		"input":         func(r *Report) { r.Input("x", -1, "") },
		"row":           func(r *Report) { r.Table(Table{Columns: []string{"a"}, Rows: [][]Value{{}}}) },
		"cell":          func(r *Report) { r.Table(Table{Columns: []string{"a"}, Rows: [][]Value{{Share(math.NaN())}}}) },
		"stage":         func(r *Report) { r.Stage("x", -1, 0, "") },
		"view":          func(r *Report) { r.Plot(Distribution{View: "pie"}) },
		"no histograms": func(r *Report) { r.Plot(Distribution{View: CCDF, Series: []Series{{}}}) },
	} {
		r := New("x", "", "", nil)
		damage(r)
		_, errJSON := r.JSON()
		_, errHTML := r.HTML()
		if !errors.Is(errJSON, errInvalid) || !errors.Is(errHTML, errInvalid) {
			t.Errorf("%s: got %v and %v, want errInvalid", name, errJSON, errHTML)
		}
	}
	for _, s := range []string{"", "null", "[]", `{"format":1} {}`, `{"format":1`, `{"format":1,"elapsed_seconds":1e999}`, `{"format":1,"plots":[{"view":"ccdf","series":[{"name":"a"}]}]}`} {
		if _, err := Parse([]byte(s)); !errors.Is(err, errInvalid) {
			t.Errorf("%q: got %v, want errInvalid", s, err)
		}
	}
}

func TestWarnCountsSomething(t *testing.T) {
	r := New("x", "", "", nil)
	r.Warn(0, "dangling edges dropped")
	if len(r.Notes) != 0 {
		t.Error("a problem that did not happen is noted")
	}
}

func TestPeakRSSHoldsWhatWasTouched(t *testing.T) {
	before := PeakRSS()
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	after := PeakRSS()
	runtime.KeepAlive(block)
	if before <= 0 || after < 64<<20 || after > 1<<40 {
		t.Errorf("peak RSS %d before and %d after 64 MiB were touched", before, after)
	}
	r := New("x", "", "", nil)
	r.Finish(1500 * time.Millisecond)
	if r.ElapsedSeconds != 1.5 || r.PeakRSS < after {
		t.Errorf("got %v s and %d bytes", r.ElapsedSeconds, r.PeakRSS)
	}
}

// Any numbers can be drawn: no panic, no NaN in the page.
func TestAnyDistributionDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New("x", "", "", nil)
		for _, v := range []View{CCDF, Bins} {
			d := Distribution{Title: "t", Of: "nodes", What: "degree", View: v}
			for range rapid.IntRange(0, 3).Draw(t, "series") {
				h := new(Histogram)
				for _, n := range rapid.SliceOfN(sizes(), 0, 20).Draw(t, "numbers") {
					h.AddN(n, rapid.Uint64Range(1, 1<<58).Draw(t, "times"))
				}
				d.Series = append(d.Series, Series{"s", h})
			}
			r.Plot(d)
		}
		for range rapid.IntRange(0, 3).Draw(t, "stages") {
			r.Stages = append(r.Stages, Stage{Name: rapid.String().Draw(t, "name"), Seconds: math.Abs(rapid.Float64().Draw(t, "s"))})
		}
		html, err := r.HTML()
		if errors.Is(err, errInvalid) {
			return // infinite seconds
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(html, []byte("NaN")) || bytes.Contains(html, []byte("Inf")) {
			t.Fatal("a number of the page is none")
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	for _, r := range []*Report{emptyReport(), hostileReport(), sampleReport()} {
		f.Add(must(r.JSON()))
	}
	f.Add([]byte(`{"format":1,"stages":[{"name":"a","seconds":1e308}],"plots":[{"view":"bins","series":[{"histogram":{"count":1,"sum":18446744073709551615,"min":18446744073709551615,"max":18446744073709551615,"buckets":[[18302628885633695744,1]]}}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			r, err := Parse(b)
			if err != nil {
				if !errors.Is(err, errInvalid) {
					t.Fatalf("got %v, want errInvalid", err)
				}
				return
			}
			page, err := r.HTML()
			if err != nil {
				t.Fatal(err)
			}
			again, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			back, err := Parse(again)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(must(back.JSON()), again) || !bytes.Equal(must(back.HTML()), page) {
				t.Fatal("the JSON gives another report")
			}
			if err := r.Text(io.Discard); err != nil {
				t.Fatal(err)
			}
		})
	})
}
