package plan

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
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// outbound checks the node's way out: by the author's own command, before anything else of the author's is run and before the
// node joins, and by reaching servers, while it starts.
var outbound = concern{
	name:  "way out",
	joins: true,
	reads: []string{
		"$.checks.outbound",
		"$.checks.outboundCommand",
		"$.cluster.server",
		RegistryPath,
		"$.proxy.http",
		"$.proxy.https",
		"$.proxy.noProxy",
	},
	plan: planOutbound,
}

// How often the author's command is tried, how long each try may take, and how long is waited before the next, in seconds (AKS:
// OUTBOUND_COMMAND); a text that does not end when it is told to is killed. Servers are tried for as long.
const (
	outboundTries   = 20
	outboundSeconds = 15
	outboundKill    = 5
	outboundPause   = 1

	outboundPatience = resource.Duration(outboundTries * (outboundSeconds + outboundPause) * time.Second)
)

// maxOutboundCommand is as large as any other command of the author's can be (nodeconfig, ShellCommand).
const maxOutboundCommand = 16 << 10

// outboundScript runs the author's text until it succeeds. The text is an argument of its own, of which this one reads nothing;
// the other is the file with the proxy's variables, where there is one.
var outboundScript = fmt.Sprintf(`[ -z "$2" ] || { set -a; . "$2"; set +a; }
for try in {1..%d}; do
  timeout -k %d %d %s -c "$1" && exit
  code=$?
  sleep %d
done
exit $code`, outboundTries, outboundKill, outboundSeconds, facts.Bash, outboundPause)

func planOutbound(in *input, out *output) {
	for i, server := range in.config.Checks.Outbound {
		planReachable(in, out, document.IndexPath("$.checks.outbound", i), server)
	}
	text := in.config.Checks.OutboundCommand
	switch {
	case text == "":
		return
	case in.config.Components.Registry != "":
		out.Warn(nodeconfig.Dropped, "$.checks.outboundCommand", "is not run: a cluster whose components come from a registry of its own has no way out")
		return
	case len(text) > maxOutboundCommand:
		out.Fatal(nodeconfig.Invalid, "$.checks.outboundCommand", "has more than %d bytes; put what it does in a file, and run that", maxOutboundCommand)
		return
	case in.facts.NoBash:
		out.Fatal(nodeconfig.NotInstalled, "$.checks.outboundCommand", "is run by %s, and the image has none; use an image that has it, or name servers in checks.outbound", facts.Bash)
		return
	}
	argv := []string{facts.Bash, "-c", outboundScript, "outbound", text, ""}
	if in.proxied() {
		argv[len(argv)-1] = proxyEnv
	}
	name := sha256.Sum256([]byte("outbound\n" + text))
	out.addTo(outboundGroup, resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{trustGroup.all()},
		ExitCode: exitcode.OutboundFailed,
		Reason:   "the contract's own check of the way out, run as it is",
		Spec: &resource.Command{
			Label: "check-outbound", Argv: argv, Once: hex.EncodeToString(name[:]), Unconfined: true,
			Timeout: outboundPatience + outboundTries*outboundKill*resource.Duration(time.Second),
		},
	})
	out.askedBy("$.checks.outboundCommand")
}

// planReachable plans that a server is reached as containerd would: through the proxy where that leads there.
func planReachable(in *input, out *output, at, server string) {
	u := &url.URL{Host: server}
	reachable := &resource.Reachable{Server: serverAddress(u)}
	if !in.config.Proxy.HTTPS.IsZero() && !noproxy.Has(noProxy(in), u.Hostname(), cmp.Or(u.Port(), httpsPort)) {
		reachable.Proxy = proxyEnv
	}
	out.add(resource.Resource{
		Phase:    resource.Join,
		Requires: []resource.ID{trustGroup.all()},
		ExitCode: exitcode.OutboundFailed,
		Reason:   "the contract wants the node to reach this server: its name, a connection, and TLS that the machine trusts",
		Spec:     &resource.Check{Label: "outbound-" + reachable.Server, Timeout: outboundPatience, Reachable: reachable},
	})
	out.askedBy(at)
}
