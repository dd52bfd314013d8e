// Record writes the record of a release: record VERSION.
package main

import (
	"fmt"
	"os"

	"github.com/slipway-dev/slipway/test/stability"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "record: name the release: make stability-record VERSION=v0.1.0")
		os.Exit(64)
	}
	dir, err := stability.Make("../..", "testdata/records", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
	fmt.Println("test/stability/" + dir)
}
