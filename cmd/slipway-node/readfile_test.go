package main

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/command"
)

// What the command line names is read up to a limit, also where the file does not say how large it is.
func TestReadFileIsBounded(t *testing.T) {
	const endless = "/dev/zero"
	_, errFacts := readFacts(endless)
	_, errCluster := readingOf(command.Node{Cluster: endless})
	for what, err := range map[string]error{"facts": errFacts, "description of the cluster": errCluster} {
		if err == nil || !strings.Contains(err.Error(), "read the "+what+": /dev/zero is larger than the limit of 1048576 bytes") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
