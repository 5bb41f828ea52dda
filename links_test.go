package graphmill_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	codeSpan  = regexp.MustCompile("``.+?``|`[^`]+`")
	link      = regexp.MustCompile(`\]\(<?([^()\s<>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]: (\S+)`)
	linkText  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	heading   = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	hasScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// prose is the lines of a Markdown text outside of blocks of code, by their numbers from 1.
func prose(text string) map[int]string {
	lines, fence := map[int]string{}, ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		default:
			lines[i+1] = line
		}
	}
	return lines
}

// anchors is the anchors that a forge gives the headings of a page.
func anchors(text string) map[string]bool {
	found, lines := map[string]bool{}, prose(text)
	for i := range strings.Count(text, "\n") + 1 {
		m := heading.FindStringSubmatch(lines[i+1])
		if m == nil {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(linkText.ReplaceAllString(m[1], "$1")) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				b.WriteRune(r)
			}
		}
		anchor := b.String()
		for n := 1; found[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", b.String(), n)
		}
		found[anchor] = true
	}
	return found
}

// brokenLinks is an error per relative link or image of a page that leads to no file, or to no heading of a page.
func brokenLinks(page string) ([]string, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	var broken []string
	lines := prose(string(text))
	for i := range strings.Count(string(text), "\n") + 1 {
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(lines[i+1], "`"), -1) {
			target := m[1] + m[2]
			if hasScheme.MatchString(target) {
				continue
			}
			name, anchor, _ := strings.Cut(target, "#")
			file := page
			if name != "" {
				unescaped, err := url.PathUnescape(name)
				if err != nil {
					return nil, err
				}
				file = filepath.Join(filepath.Dir(page), unescaped)
			}
			if _, err := os.Stat(file); err != nil {
				broken = append(broken, fmt.Sprintf("%s:%d: found a link to %s, expected a file", page, i+1, target))
				continue
			}
			if anchor == "" {
				continue
			}
			to, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if filepath.Ext(file) != ".md" || !anchors(string(to))[anchor] {
				broken = append(broken, fmt.Sprintf("%s:%d: found a link to %s, expected a heading of that page", page, i+1, target))
			}
		}
	}
	return broken, nil
}

// Every relative link and image of the Markdown files leads to a file, and every anchor to a heading.
func TestLinks(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." && d.Name() != ".github" || d.Name() == "dist" || d.Name() == "out") {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".md" {
			return nil
		}
		pages++
		broken, err := brokenLinks(file)
		for _, b := range broken {
			t.Error(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 40 {
		t.Errorf("found %d pages, expected the documentation", pages)
	}
}

func TestBrokenLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.md", "# One `two`, three_4\n\n## Same\n\n## Same\n\n```sh\n# not a heading\n```\n\n## A [link](b.md)\n")
	write("p.svg", "")
	write("a.md", strings.Join([]string{
		"# A",
		"[good](b.md) [too](b.md#one-two-three_4) [self](#a) [twice](b.md#same-1) [text](b.md#a-link) ![image](p.svg) [out](https://example.com/x)",
		"`[code](none.md)` and [none](none.md)",
		"```text",
		"[block](none.md)",
		"```",
		"[no heading](b.md#not-a-heading) ![no image](q.svg) [svg](p.svg#x)",
		"[ref]: gone.md",
	}, "\n"))
	got, err := brokenLinks(filepath.Join(dir, "a.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], dir+string(filepath.Separator))
	}
	want := []string{
		"a.md:3: found a link to none.md, expected a file",
		"a.md:7: found a link to b.md#not-a-heading, expected a heading of that page",
		"a.md:7: found a link to q.svg, expected a file",
		"a.md:7: found a link to p.svg#x, expected a heading of that page",
		"a.md:8: found a link to gone.md, expected a file",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
