package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
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
	case len(text) > maxOutboundCommand:
		out.fatal(nodeconfig.Invalid, "$.checks.outboundCommand", "has more than %d bytes; put what it does in a file, and run that", maxOutboundCommand)
		return
	case in.facts.NoBash:
		out.fatal(nodeconfig.NotInstalled, "$.checks.outboundCommand", "is run by %s, and the image has none; use an image that has it, or name servers in checks.outbound", facts.Bash)
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
	u := url.URL{Host: server}
	host, port := u.Hostname(), cmp.Or(u.Port(), "443")
	reachable := &resource.Reachable{Server: strings.TrimSuffix(server, ":"+port) + ":" + port}
	if !in.config.Proxy.HTTPS.IsZero() && !reachedWithoutProxy(noProxy(in), host, port) {
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

// reachedWithoutProxy reports whether one of the hosts that no proxy is for stands for a server, as containerd reads them
// (golang.org/x/net/http/httpproxy: Config.NoProxy): a name stands for those below it, too, one with a dot before it only for
// those, a network for the addresses in it, and one with a port for that port alone.
func reachedWithoutProxy(hosts []string, host, port string) bool {
	address, err := netip.ParseAddr(host)
	isName := err != nil
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || address.IsLoopback() {
		return true
	}
	for _, entry := range hosts {
		name := strings.ToLower(strings.TrimSpace(entry))
		if network, err := netip.ParsePrefix(name); err == nil && network.Contains(address) {
			return true
		}
		if _, err := netip.ParseAddr(name); err != nil {
			u := url.URL{Host: name}
			if name = u.Hostname(); u.Port() != "" && u.Port() != port {
				continue
			}
		}
		switch below := strings.TrimPrefix(name, "*"); {
		case name == "", name == ".":
		case name == "*", name == host, isName && strings.HasSuffix(host, "."+strings.TrimPrefix(below, ".")):
			return true
		}
	}
	return false
}
