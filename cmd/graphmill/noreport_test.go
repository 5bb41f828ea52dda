package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
)

// TestNoReport runs each command that writes an output with and without --no-report: only the reports differ, verify accepts both, and
// RenderReport says that there is none.
func TestNoReport(t *testing.T) {
	endInputs(t)
	for name, line := range ends {
		name = strings.ReplaceAll(name, " ", "-")
		with, without := filepath.Join("with", name), filepath.Join("without", name)
		for _, call := range []string{strings.ReplaceAll(line, "OUT", with), strings.ReplaceAll(line, "OUT", without) + " --no-report", "verify " + with, "verify " + without} {
			if status, text := endRun(t.Context(), call); status != exitDone {
				t.Fatalf("%s: status %d: %s", call, status, text)
			}
		}
		for _, file := range []string{store.ReportHTMLFile, store.ReportJSONFile, "report.xxh3"} {
			if _, err := os.Stat(filepath.Join(with, file)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := os.Stat(filepath.Join(without, file)); !os.IsNotExist(err) {
				t.Errorf("%s: found %s with --no-report", name, file)
			}
		}
		a, err := os.ReadFile(filepath.Join(with, store.ManifestFile))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(without, store.ManifestFile))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s: found another manifest with --no-report: %v", name, err)
		}
		if _, err := graphmill.RenderReport(without); !errors.Is(err, graphmill.ErrNoReport) {
			t.Errorf("%s: found %v, expected ErrNoReport", name, err)
		}
	}
}
