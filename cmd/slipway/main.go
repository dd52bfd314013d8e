// Command slipway is for people and CI jobs that write, check and deliver node contracts: it validates a contract,
// plans the node that it makes, compares two plans, explains a field or an exit code, and renders the data for creating
// a machine.
//
// It works on files alone: it calls no cloud, no cluster and no machine, and it changes only the file that render
// writes. Documents go to standard output, messages about them to standard error. The exit code is 0 for success, 1 if
// a document has errors or the command failed, and 64 if the command line is wrong; diff has separate codes.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], cli.Standard())) }
