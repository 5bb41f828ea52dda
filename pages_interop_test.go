//go:build interop

package graphmill_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

var (
	screenshots   = flag.String("screenshots", "", "folder to write pictures of the pages to")
	updateLayouts = flag.Bool("update-layouts", false, "write testdata/pages.txt, the layouts of the pages")
)

// makePages makes outputs whose pages have every kind of section, and returns the pages.
func makePages(t *testing.T) []string {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(words ...string) option.Run {
		return option.Run{Threads: 2, CommandLine: append([]string{"graphmill"}, words...)}
	}
	st, err := graphmill.GenerateCommunity(ctx, at("community.store"), option.Community{Nodes: 5000, Build: option.Build{Run: run("generate", "community", "--nodes", "5000", "--out", "community.store")}})
	must(err)
	defer st.Close()
	for _, parts := range []int{8, 40} {
		_, err = graphmill.Partition(ctx, at("community.store"), at(fmt.Sprint("parts", parts)), option.Partition{Run: run("partition"), Parts: parts})
		must(err)
	}
	_, err = graphmill.Dispatch(ctx, at("community.store"), at("parts8"), at("dgl"), option.Dispatch{Run: run("dispatch")})
	must(err)
	_, err = graphmill.Sample(ctx, st, at("subgraphs"), option.Sample{Run: run("sample"), Draw: option.Draw{Fanout: []int{5, 3}, Scope: option.ScopeSeed}, Batching: option.Batching{LimitSeeds: 500}})
	must(err)
	limits := []option.PackLimit{{Component: "num_nodes", Max: 256}, {Component: "num_edges", Max: 256}}
	_, err = graphmill.Pack(ctx, at("subgraphs"), at("layout"), option.Pack{Run: run("pack"), Limits: limits})
	must(err)
	_, err = graphmill.TunePacks(ctx, at("subgraphs"), at("limits"), option.TunePacks{Run: run("pack", "tune"), Components: []string{"num_nodes", "num_edges"}, Tries: 20})
	must(err)
	_, err = graphmill.Materialise(ctx, at("layout"), at("subgraphs"), at("packs"), option.Materialise{Run: run("pack", "materialise")})
	must(err)
	line, err := graphmill.TraceLineage(ctx, at("packs"), option.Lineage{})
	must(err)
	lineage, err := graphmill.WriteLineage(line, at("packs"), "")
	must(err)
	pages := []string{lineage}
	for _, name := range []string{"community.store", "parts8", "parts40", "dgl", "subgraphs", "layout", "limits", "packs"} {
		pages = append(pages, filepath.Join(at(name), "report.html"))
	}
	return pages
}

// axeScript returns axe-core, which judges whether people with disabilities can read a page.
func axeScript(t *testing.T) string {
	t.Helper()
	peers := exec.Command("bench/peers.sh", "axe")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh axe: %v", err)
	}
	site, err := exec.Command(strings.TrimSpace(string(python)), "-c", `import sysconfig; print(sysconfig.get_path("purelib"))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(site)), "axe_playwright_python", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// faults lists what is wrong with the layout of a page.
const faults = `(() => {
  const out = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) out.push("found a page of " + root.scrollWidth + " px, expected at most " + innerWidth);
  for (const c of document.querySelectorAll("td, th")) {
    const style = getComputedStyle(c);
    const number = c.tagName === "TD" && /^[≤≥]?\d[\d.,]*([kMGT%]|( [a-zµA-Z/]+))*$/.test(c.textContent.trim());
    if (number && style.textAlign !== "right") out.push("found the number " + c.textContent.trim() + " aligned to " + style.textAlign);
  }
  for (const h of document.querySelectorAll("thead th")) {
    for (const word of h.textContent.trim().split(/[\s-]+/)) {
      const range = document.createRange(), text = document.createTreeWalker(h, NodeFilter.SHOW_TEXT).nextNode();
      const from = text ? text.data.indexOf(word) : -1;
      if (!word || from < 0) continue;
      range.setStart(text, from); range.setEnd(text, from + word.length);
      if (range.getClientRects().length > 1) out.push("found a line break in the word " + word);
    }
  }
  for (const text of document.querySelectorAll("figure text")) {
    const a = text.getBoundingClientRect(), b = text.closest("section").getBoundingClientRect();
    if (a.left < b.left - 0.5 || a.right > b.right + 0.5) out.push("found the label " + text.textContent + " outside of its section");
    if (a.height < 8) out.push("found the label " + text.textContent + " " + a.height + " px high");
  }
  for (const f of document.querySelectorAll("figure, .pair, .cols, .figs")) {
    if (f.scrollWidth > f.clientWidth + 1 && getComputedStyle(f).overflowX !== "visible") out.push("found a figure that is cut");
  }
  if (innerWidth >= 1000) for (const w of document.querySelectorAll(".wide")) {
    if (w.scrollWidth > w.clientWidth + 1) out.push("found a table that is cut: " + w.textContent.trim().slice(0, 40));
  }
  return out;
})()`

// boxes lists where the sections and plots of a page stand, in px from the left: what does not depend on the fonts of the machine.
const boxes = `[...document.querySelectorAll("section, figure svg")].map((e) => {
  const b = e.getBoundingClientRect(), title = e.closest("section").querySelector("h2").textContent;
  return (e.tagName === "SECTION" ? "" : "  plot of ") + title + ": from " + Math.round(b.left) + " to " + Math.round(b.right);
})`

// The pages of all kinds of outputs are whole and readable: at three widths, in light and dark mode, by axe-core's rules, with
// no error and nothing cut. The search of a long table finds its rows.
func TestPeerPages(t *testing.T) {
	axe, pages := axeScript(t), makePages(t)
	b := startBrowser(t)
	var layouts strings.Builder
	t.Run("search", func(t *testing.T) { checkSearch(t, b, pages) })
	// The pages forbid scripts from elsewhere; the script of axe-core is let in.
	b.call("Page.setBypassCSP", map[string]any{"enabled": true}, nil)
	for _, page := range pages {
		for _, width := range []int{400, 1000, 1600} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("%s-%d-%s", filepath.Base(filepath.Dir(page)), width, map[bool]string{false: "light", true: "dark"}[dark])
				if strings.HasSuffix(page, ".lineage.html") {
					name = strings.Replace(name, filepath.Base(filepath.Dir(page)), "lineage", 1)
				}
				t.Run(name, func(t *testing.T) {
					b.t = t
					b.open("file://"+page, width, dark)
					if *screenshots != "" {
						if err := os.MkdirAll(*screenshots, 0o755); err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), b.screenshot(), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					if !dark {
						var lines []string
						if err := b.eval(boxes, &lines); err != nil {
							t.Fatal(err)
						}
						fmt.Fprintf(&layouts, "%s in %d px\n%s\n\n", strings.TrimSuffix(name, fmt.Sprintf("-%d-light", width)), width, strings.Join(lines, "\n"))
					}
					b.judge(width, dark, axe)
				})
			}
		}
	}
	t.Run("layouts", func(t *testing.T) { checkLayouts(t, layouts.String()) })
}

// checkLayouts compares the layouts of the pages with those that were looked at.
func checkLayouts(t *testing.T, got string) {
	const file = "testdata/pages.txt"
	if *updateLayouts {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("found other layouts (+) than those that were looked at (-); look at the pages that make pages writes, and run the test with -update-layouts:\n%s", diff)
	}
}

// judge fails the test for everything that is wrong with the open page. axe-core takes seconds, and the widths differ in their
// layout, not in their elements: it judges the narrowest page, and both modes of the next one.
func (b *browser) judge(width int, dark bool, axe string) {
	b.t.Helper()
	var found []string
	if err := b.eval(faults, &found); err != nil {
		b.t.Fatal(err)
	}
	for _, fault := range append(found, b.console...) {
		b.t.Error(fault)
	}
	if width > 1000 || width == 400 && dark {
		return
	}
	if err := b.eval(axe+`;0`, nil); err != nil {
		b.t.Fatal(err)
	}
	// Shapes without text take axe-core half a minute for a heat map of 40 parts, and no rule is about them.
	if err := b.eval(`document.querySelectorAll("figure rect:not(.step), figure path, figure line").forEach((e) => e.remove())`, nil); err != nil {
		b.t.Fatal(err)
	}
	var rules []string
	err := b.eval(`axe.run().then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")))`, &rules)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, rule := range rules {
		b.t.Error(rule)
	}
}

// checkSearch types into the search box of the table of 40 parts, with the page's own rules about scripts.
func checkSearch(t *testing.T, b *browser, pages []string) {
	b.t = t
	for _, page := range pages {
		b.open("file://"+page, 1000, false)
		var boxes int
		if err := b.eval(`document.querySelectorAll(".find input").length`, &boxes); err != nil {
			t.Fatal(err)
		}
		long := strings.Contains(page, "parts40")
		if (boxes > 0) != long || len(b.console) > 0 {
			t.Errorf("%s: found %d search boxes and the messages %q, expected some: %v", filepath.Base(filepath.Dir(page)), boxes, b.console, long)
		}
		if !long {
			continue
		}
		var shown []string
		err := b.eval(`(() => {
  const box = document.querySelector(".find input"), rows = [...document.querySelector("table[data-find]").tBodies[0].rows];
  const of = (words) => { box.value = words; box.dispatchEvent(new Event("input")); return rows.filter((r) => r.offsetHeight > 0).length + " " + document.querySelector(".find span").textContent; };
  return [of(rows[17].cells[1].textContent + " " + rows[17].cells[2].textContent), of("no such row"), of("")];
})()`, &shown)
		if err != nil {
			t.Fatal(err)
		}
		if len(shown) != 3 || !strings.HasSuffix(shown[0], " of 40 rows") || strings.HasPrefix(shown[0], "0 ") || strings.HasPrefix(shown[0], "40 ") || shown[1] != "0 0 of 40 rows" || shown[2] != "40 " {
			t.Errorf("found %q, expected a few rows for a row's numbers, none, and all", shown)
		}
	}
}
