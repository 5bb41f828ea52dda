// Command bill prints the bill of materials of a program of the product, in CycloneDX 1.5.
package main

import (
	"fmt"
	"os"

	"github.com/graphmill/graphmill/torture/supply"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bill PROGRAM")
		os.Exit(2)
	}
	b, err := supply.Bill(os.Args[1])
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}
