package network

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/noproxy"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// outbound checks the node's way out: by the author's own command, before anything else of the author's is run and before the
// node joins, and by reaching servers, while it starts.
var outbound = concern.Concern{
	Name:  "way out",
	Joins: true,
	Reads: []string{
		"$.checks.outbound",
		"$.checks.outboundCommand",
		"$.cluster.server",
		setting.ComponentsRegistry,
		"$.proxy.http",
		"$.proxy.https",
		"$.proxy.noProxy",
	},
	Plan: planOutbound,
}

// The number of tries of the author's command, the limit of each try, and the delay before the next, in seconds (AKS:
// OUTBOUND_COMMAND). A command that ignores the signal to end is killed. Servers are tried for the same time.
const (
	outboundTries   = 20
	outboundSeconds = 15
	outboundKill    = 5
	outboundPause   = 1

	outboundPatience = resource.Duration(outboundTries * (outboundSeconds + outboundPause) * time.Second)
)

// maxOutboundCommand is as large as any other command of the author's can be (nodeconfig, ShellCommand).
const maxOutboundCommand = 16 << 10

// outboundScript runs the author's text until it succeeds. The text is a separate argument, which this script does not interpret.
// The other argument is the file with the proxy's variables, if there is one.
var outboundScript = fmt.Sprintf(`[ -z "$2" ] || { set -a; . "$2"; set +a; }
for try in {1..%d}; do
  timeout -k %d %d %s -c "$1" && exit
  code=$?
  sleep %d
done
exit $code`, outboundTries, outboundKill, outboundSeconds, facts.Bash, outboundPause)

func planOutbound(in *concern.Input, out *concern.Output) {
	for i, server := range in.Config.Checks.Outbound {
		planReachable(in, out, document.IndexPath("$.checks.outbound", i), server)
	}
	text := in.Config.Checks.OutboundCommand
	switch {
	case text == "":
		return
	case in.Config.Components.Registry != "":
		out.Warn(nodeconfig.Dropped, "$.checks.outboundCommand", "is not run: a cluster with its own registry for components has no way out")
		return
	case len(text) > maxOutboundCommand:
		out.Fatal(nodeconfig.Invalid, "$.checks.outboundCommand", "has more than %d bytes; put what it does in a file, and run that", maxOutboundCommand)
		return
	case in.Facts.NoBash:
		out.Fatal(nodeconfig.NotInstalled, "$.checks.outboundCommand", "is run by %s, and the image has none; use an image that has it, or name servers in checks.outbound", facts.Bash)
		return
	}
	argv := []string{facts.Bash, "-c", outboundScript, "outbound", text, ""}
	if in.Proxied() {
		argv[len(argv)-1] = concern.ProxyEnv
	}
	name := sha256.Sum256([]byte("outbound\n" + text))
	out.AppendTo(concern.OutboundGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.TrustGroup.All()},
		ExitCode: exitcode.OutboundFailed,
		Reason:   "the contract's own check of the way out, run as it is",
		Spec: &resource.Command{
			Label: "check-outbound", Argv: argv, Once: hex.EncodeToString(name[:]), Unconfined: true,
			Timeout: outboundPatience + outboundTries*outboundKill*resource.Duration(time.Second),
		},
	})
	out.AskedBy("$.checks.outboundCommand")
}

// planReachable plans that a server is reached as containerd would: through the proxy where that leads there.
func planReachable(in *concern.Input, out *concern.Output, at, server string) {
	u := &url.URL{Host: server}
	reachable := &resource.Reachable{Server: concern.ServerAddress(u)}
	if !in.Config.Proxy.HTTPS.IsZero() && !noproxy.Has(concern.NoProxy(in), u.Hostname(), cmp.Or(u.Port(), concern.HTTPSPort)) {
		reachable.Proxy = concern.ProxyEnv
	}
	out.Append(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{concern.TrustGroup.All()},
		ExitCode: exitcode.OutboundFailed,
		Reason:   "the contract wants the node to reach this server: its name, a connection, and TLS that the machine trusts",
		Spec:     &resource.Check{Label: "outbound-" + reachable.Server, Timeout: outboundPatience, Reachable: reachable},
	})
	out.AskedBy(at)
}
