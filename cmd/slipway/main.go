// Command slipway is for those who write, check and deliver node contracts, on a workstation and in
// CI: it validates a contract, plans the node that it makes, compares two plans, explains a field or
// an exit code, and renders what a machine is created with.
//
// It works on files alone: it asks no cloud, no cluster and no machine, and it changes nothing but
// the file that render is told to write. Documents go to standard output, what is said about them to
// standard error. The exit code is 0 for success, 1 where a document has errors or the command
// failed, and 64 where the command line is wrong; diff has codes of its own.
package main

import (
	"os"

	"github.com/slipway-dev/slipway/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], cli.Standard())) }
