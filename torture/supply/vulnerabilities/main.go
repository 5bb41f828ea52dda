// Command vulnerabilities writes a folder that govulncheck takes as its database, of the entries that the Go module proxy has.
package main

import (
	"fmt"
	"os"

	"github.com/graphmill/graphmill/torture/supply"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vulnerabilities FOLDER")
		os.Exit(2)
	}
	entries, modified, err := supply.Vulnerabilities()
	if err != nil {
		fail(err)
	}
	n, err := supply.Database(entries, modified, os.Args[1])
	if err != nil {
		fail(err)
	}
	fmt.Printf("%d known vulnerabilities of the Go module proxy, of %s\n", n, modified.Format("2006-01-02"))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "vulnerabilities:", err)
	os.Exit(1)
}
