package userdata_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/userdata"
)

// contract is a provisioner's contract for a node.
var contract = userdata.Contract{
	Document: []byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\n"),
	Path:     userdata.NativeYAMLPath,
}

// Azure's API takes custom data; the contract's command waits for the node.
func ExampleCustomData() {
	customData, err := userdata.CustomData(contract)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(customData[:24] + "...")
	fmt.Println(contract.CSE())
	// Output:
	// TUlNRS1WZXJzaW9uOiAxLjAN...
	// /opt/slipway/bin/slipway-node provision-wait
}

// A machine gets the user's own script and cloud-config beside its contract.
func ExampleMIME() {
	given := contract
	given.Parts = []userdata.Part{
		{Name: "setup.sh", Content: []byte("#!/bin/sh\nmkfs.ext4 /dev/sdb\n")},
		{Name: "users.yaml", Content: []byte("#cloud-config\nusers: [default]\n")},
	}
	document, err := userdata.MIME(given)
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(line, "Content-Type: text/") || strings.HasPrefix(line, "Content-Disposition: ") {
			fmt.Print(strings.ReplaceAll(line, "\r", ""))
		}
	}
	if err := userdata.EC2.Check(len(userdata.Gzip(document))); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Content-Type: text/cloud-boothook; charset="utf-8"
	// Content-Type: text/x-shellscript; charset="utf-8"
	// Content-Disposition: attachment; filename="setup.sh"
	// Content-Type: text/cloud-config; charset="utf-8"
	// Content-Disposition: attachment; filename="users.yaml"
	// Content-Type: text/cloud-config; charset="utf-8"
}

// A part that the machine would ignore is refused, with all other problems.
func ExampleInvalidError() {
	given := contract
	given.Path = "/etc/config.yaml"
	given.Parts = []userdata.Part{{Content: []byte("echo hello\n")}}
	_, err := userdata.MIME(given)
	if invalid, ok := errors.AsType[*userdata.InvalidError](err); ok {
		for _, p := range invalid.Problems {
			fmt.Println(p.Field)
		}
	}
	// Output:
	// Path
	// Parts[0]
}

// Ignition merges the user's own config.
func ExampleIgnition() {
	given := contract
	given.Parts = []userdata.Part{{Content: []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/motd"}]}}`)}}
	config, err := userdata.Ignition(given)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.72s...\n", config)
	// Output:
	// {"ignition":{"version":"3.4.0","config":{"merge":[{"source":"data:;base6...
}
