package main

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/command"
)

// Reading a file from the command line stops at the limit, also if the file does not have a size.
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
