// Corefiles lets CoreDNS read each of the Corefiles in its arguments, up to the point before it listens. It prints the problems,
// and ends with 1 if there are any.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"

	_ "github.com/slipway-dev/slipway/test/e2e/modules/coredns/plugins"
)

func main() {
	dnsserver.Quiet = true
	log.SetOutput(io.Discard)
	code := 0
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Printf("%s: %v\n", path, err)
			code = 1
		}
	}
	os.Exit(code)
}

func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	corefile := caddy.CaddyfileInput{Contents: text, Filepath: path, ServerTypeName: "dns"}
	return caddy.ValidateAndExecuteDirectives(corefile, nil, true)
}
