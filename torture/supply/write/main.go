// Command write writes what package supply makes: the bill of materials of a program to stdout, in CycloneDX 1.5; a folder that
// govulncheck takes as its database, of the entries that the Go module proxy has; or a file of the licences and notices of the
// modules that are linked into graphmill.
package main

import (
	"fmt"
	"os"

	"github.com/graphmill/graphmill/torture/supply"
)

func main() {
	write := map[string]func(string) error{"bill": bill, "database": database, "notices": notices}[os.Args[min(1, len(os.Args)-1)]]
	if len(os.Args) != 3 || write == nil {
		fmt.Fprintln(os.Stderr, "usage: write bill PROGRAM, write database FOLDER, or write notices FILE")
		os.Exit(2)
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

func notices(file string) error {
	b, err := supply.Notices("..", "./cmd/graphmill")
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}
