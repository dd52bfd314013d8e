package system

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// access decides who can log in over SSH. What the contract does not turn off stays as the image has it.
var access = concern.Concern{
	Name:  "SSH",
	Reads: []string{"$.access.ssh.enabled", "$.access.ssh.publicKeyAuthentication"},
	Plan:  planAccess,
}

const keysPath = "$.access.ssh.publicKeyAuthentication"

// sshTimeout is for a machine that boots: sshd reads its keys and its configuration.
const sshTimeout = resource.Duration(30 * time.Second)

func planAccess(in *concern.Input, out *concern.Output) {
	ssh := in.Config.Access.SSH
	servers := []distro.SSH{in.Distro.SSH}
	known := in.Distro.SSH.Service != ""
	if !known { // it can be any of them
		servers, known = distro.SSHServers(), !in.Seen()
	}
	switch keys := ssh.PublicKeyAuthentication; {
	case ssh.Enabled != nil && !*ssh.Enabled:
		for _, server := range servers {
			planNoSSH(out, server, in.Family.Sources.SSH)
		}
	case keys == nil || *keys:
	case !known:
		out.Fatal(nodeconfig.NotApplied, keysPath, "is not applied: it is not known how the SSH server of %s is configured", concern.SystemName(in))
	default:
		planNoKeys(out, servers, in.Family.Sources.PublicKeys)
	}
}

// planNoSSH stops a server, and has nothing start it at boot. A socket would start it at the next connection, so the socket stops
// first. A unit that the machine does not have is not stopped.
func planNoSSH(out *concern.Output, server distro.SSH, source string) {
	socket := &resource.UnitState{Unit: server.Socket, State: resource.UnitDisabled}
	for _, state := range []*resource.UnitState{socket, {Unit: server.Service, State: resource.UnitDisabled}} {
		var requires []resource.ID
		if state != socket {
			requires = []resource.ID{resource.IDOf(socket)}
		}
		out.Append(resource.Resource{
			Phase:    resource.Base,
			Requires: requires,
			ExitCode: exitcode.SSHDisableFailed,
			Reason:   concern.Sourced("the contract allows no login over SSH", source),
			Spec:     state,
		})
		out.AskedBy("$.access.ssh.enabled")
	}
}

// planNoKeys has servers refuse public keys. sshd uses the first value of a repeated setting, and a setting after a
// line "Match" is for some users only (sshd_config(5)). So this setting comes before everything else. AKS changes the existing
// line outside of any Match block, with the same effect. A main file that is missing in /etc must stay missing: otherwise sshd
// would not read the vendor's file any more, which includes the directory before all else.
func planNoKeys(out *concern.Output, servers []distro.SSH, source string) {
	const line = "PubkeyAuthentication no\n"
	config := servers[0].Config // they read the same one
	var spec resource.Spec = &resource.Block{Path: config, Label: "public-keys", Content: line, First: true}
	if dir := servers[0].DropIns; dir != "" {
		config = dir + "/00-slipway-public-keys.conf"
		spec = &resource.File{Path: config, Mode: 0o600, Content: []byte(line)}
	}
	var effects resource.Effects
	for _, server := range servers {
		effects.Reloads = append(effects.Reloads, server.Service)
	}
	out.Append(resource.Resource{
		Phase:   resource.Base,
		Effects: effects,
		Reason:  concern.Sourced("the contract allows no login by a public key", source),
		Spec:    spec,
	})
	out.AskedBy(keysPath)
	for _, server := range servers {
		// A server that does not run yet may have no host keys yet, without which the test fails, and reads its
		// configuration when it starts.
		out.Append(resource.Resource{
			Phase:    resource.Base,
			ExitCode: exitcode.SSHKeysFailed,
			Reason:   "the SSH server accepts its configuration before it reads it again (sshd(8), -t)",
			Spec: &resource.Command{
				Label: "sshd-test-" + server.Service, Argv: []string{"/usr/sbin/sshd", "-t"}, Timeout: sshTimeout,
				Inputs: []string{config}, While: server.Service,
			},
		})
	}
}
