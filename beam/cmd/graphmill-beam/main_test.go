package main

import (
	"os"
	"testing"
)

// TestMain runs the command instead of the tests where the first argument is one of its commands: the worker service of a
// test, and the submitters that a test kills, are this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "sample", "worker", "harness":
			main()
		}
	}
	os.Exit(m.Run())
}
