package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfrecord"
)

// The program is built and run; its files must hold the classes.
func TestProgram(t *testing.T) {
	program, dir := filepath.Join(t.TempDir(), "write-graphs"), filepath.Join(t.TempDir(), "out")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(program, dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "schema.pbtxt"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := tfgnn.InspectSchema("schema.pbtxt", text)
	if err != nil || schema.Err() != nil || len(schema.Warnings) > 0 {
		t.Fatal(err, schema)
	}
	codec, err := example.NewCodec(schema.Message)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "graphs.tfrecord"))
	if err != nil {
		t.Fatal(err)
	}
	r := tfrecord.NewReader(bytes.NewReader(b), "graphs.tfrecord", int64(len(b)))
	var got []string
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := codec.Decode(record, codec.New(), false); err != nil {
			t.Fatal(err)
		}
		var d example.Decoder
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		got = append(got, string(example.AppendJSON(nil, &d)))
	}
	want := []string{
		`{"context/class":{"bytes":["MWE="]},"edges/helps.#size":{"int64":[3]},"edges/helps.#source":{"int64":[0,2,2]},"edges/helps.#target":{"int64":[1,0,1]},` +
			`"edges/helps.hours":{"float":[1.5,0.5,2]},"nodes/students.#size":{"int64":[3]},"nodes/students.name":{"bytes":["QWRh","QmVu","Q2xlbw=="]},` +
			`"nodes/students.position":{"float":[0,0,1,0,0,1]},"nodes/students.scores":{"int64":[10,15,23,89,64,53,25,29]},"nodes/students.scores.d1":{"int64":[3,1,4]}}`,
		`{"context/class":{"bytes":["MWI="]},"edges/helps.#size":{"int64":[0]},"edges/helps.#source":{"int64":[]},"edges/helps.#target":{"int64":[]},` +
			`"edges/helps.hours":{"float":[]},"nodes/students.#size":{"int64":[1]},"nodes/students.name":{"bytes":["RGFu"]},` +
			`"nodes/students.position":{"float":[2.5,1]},"nodes/students.scores":{"int64":[]},"nodes/students.scores.d1":{"int64":[0]}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	out, err := exec.Command(program).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage: ") {
		t.Errorf("without a folder: %v: %s", err, out)
	}
}
