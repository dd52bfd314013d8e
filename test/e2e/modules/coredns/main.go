// Coredns is CoreDNS as the DNS cache of the suite's nodes.
package main

import (
	"github.com/coredns/coredns/coremain"

	_ "github.com/slipway-dev/slipway/test/e2e/modules/coredns/plugins"
)

func main() { coremain.Run() }
