// Command write writes what package supply makes: the bill of materials of a program to stdout, in CycloneDX 1.5, or a folder that
// govulncheck takes as its database, of the entries that the Go module proxy has.
package main

import (
	"fmt"
	"os"

	"github.com/graphmill/graphmill/torture/supply"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "bill" && os.Args[1] != "database" {
		fmt.Fprintln(os.Stderr, "usage: write bill PROGRAM, or write database FOLDER")
		os.Exit(2)
	}
	write := bill
	if os.Args[1] == "database" {
		write = database
	}
	if err := write(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

func bill(program string) error {
	b, err := supply.Bill(program)
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	return err
}

func database(folder string) error {
	entries, modified, err := supply.Vulnerabilities()
	if err != nil {
		return err
	}
	n, err := supply.Database(entries, modified, folder)
	if err == nil {
		fmt.Printf("%d known vulnerabilities of the Go module proxy, of %s\n", n, modified.Format("2006-01-02"))
	}
	return err
}
