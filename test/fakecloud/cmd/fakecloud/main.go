// Command fakecloud serves the metadata services of one fictional instance, for experiments:
//
//	fakecloud -metadata 127.0.0.1:8080 -wire 127.0.0.1:8081 -fault 'imds status=404*3'
//
// It refuses to listen on any address except loopback and the clouds' own link-local addresses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fakecloud:", err)
		os.Exit(1)
	}
}

type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func run(ctx context.Context) error {
	var faults list
	metadata := flag.String("metadata", "127.0.0.1:8080", "`address` of the metadata services")
	wire := flag.String("wire", "127.0.0.1:8081", "`address` of the wire server")
	userData := flag.String("user-data", "", "`file` that is the instance's user data")
	flag.Var(&faults, "fault", "a way to `misbehave`, may be repeated; see the package's documentation")
	flag.Parse()
	instance := fakecloud.Instance{
		Name: "node", ID: "i-0123456789abcdef0", Type: "m5.large", Region: "us-east-1",
		MAC: "52:54:00:00:00:01", Address: "10.77.0.11", Prefix: 24,
	}
	if *userData != "" {
		data, err := os.ReadFile(*userData)
		if err != nil {
			return err
		}
		instance.UserData = data
	}
	cloud := fakecloud.New(instance)
	if err := cloud.Misbehave(faults...); err != nil {
		return err
	}
	failed := make(chan error, 2)
	for address, handler := range map[string]http.Handler{*metadata: cloud.Metadata(), *wire: cloud.WireServer()} {
		if err := local(address); err != nil {
			return err
		}
		go func() { failed <- http.ListenAndServe(address, handler) }()
		fmt.Println("listening on", address)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// local refuses addresses that other machines could reach.
func local(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip := net.ParseIP(host)
	if ip != nil && (ip.IsLoopback() || host == fakecloud.MetadataAddress || host == fakecloud.WireServerAddress) {
		return nil
	}
	return errors.New(address + " is not a local address")
}
