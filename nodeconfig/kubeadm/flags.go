package kubeadm

import "strings"

// flag is a flag of kubeadm join, or of kubeadm (k8s.io/kubernetes, cmd/kubeadm/app/cmd/join.go, cmd/kubeadm/app/kubeadm.go).
type flag struct {
	name string
	// short is its letter, or 0.
	short byte
	// path is the path of its value in a JoinConfiguration, with dots between the names. It may be empty.
	path string
	// alone means that it needs no value; list means that it has several values, and may be repeated.
	alone, list bool
	// refused is why no node is made with it; idle is why it has no effect.
	refused, idle string
	// controlPlane marks a flag for control plane nodes: with --control-plane the command line is refused, without it the flag has
	// no effect.
	controlPlane bool
}

const (
	tokenAt          = "discovery.bootstrapToken.token"
	tlsAt            = "discovery.tlsBootstrapToken"
	tokenFlag        = "--token"
	controlPlaneFlag = "--control-plane"

	workers = "is for a node of the control plane, and Slipway joins worker nodes"
	logs    = "has no effect: it is about kubeadm's own log"
)

// flags are those of Kubernetes 1.28 to 1.37. The log's flags are klog's and component-base's (k8s.io/klog/v2, klog.go): kubeadm
// had all of them, and kept two.
var flags = []flag{
	{name: tokenFlag},
	{name: "--discovery-token", path: tokenAt},
	{name: "--tls-bootstrap-token", path: tlsAt},
	{name: "--discovery-token-ca-cert-hash", path: "discovery.bootstrapToken.caCertHashes", list: true},
	{name: "--discovery-token-unsafe-skip-ca-verification", path: "discovery.bootstrapToken.unsafeSkipCAVerification", alone: true},
	{name: "--node-name", path: "nodeRegistration.name"},
	{name: "--cri-socket", path: "nodeRegistration.criSocket"},
	{name: "--ignore-preflight-errors", path: "nodeRegistration.ignorePreflightErrors", list: true},
	{name: "--skip-phases", path: "skipPhases", list: true},
	{name: "--dry-run", path: "dryRun", alone: true},
	{name: "--discovery-file", path: "discovery.file.kubeConfigPath"},
	{name: "--patches", path: "patches.directory"},
	{name: "--config", refused: "names a file on the machine; give that file itself as the contract"},
	{name: "--help", short: 'h', alone: true, refused: "asks for kubeadm's help, and joins nothing"},
	{name: controlPlaneFlag, alone: true, controlPlane: true},
	{name: "--certificate-key", controlPlane: true},
	{name: "--apiserver-advertise-address", controlPlane: true},
	{name: "--apiserver-bind-port", controlPlane: true},
	{name: "--rootfs", idle: "has no effect: slipway-node works on the machine that it runs on, or below its own --root"},
	{name: "--v", short: 'v', idle: logs},
	{name: "--vmodule", idle: logs},
	{name: "--log-backtrace-at", idle: logs},
	{name: "--log-dir", idle: logs},
	{name: "--log-file", idle: logs},
	{name: "--log-file-max-size", idle: logs},
	{name: "--log-flush-frequency", idle: logs},
	{name: "--stderrthreshold", idle: logs},
	{name: "--alsologtostderrthreshold", idle: logs},
	{name: "--logtostderr", alone: true, idle: logs},
	{name: "--alsologtostderr", alone: true, idle: logs},
	{name: "--legacy-stderr-threshold-behavior", alone: true, idle: logs},
	{name: "--add-dir-header", alone: true, idle: logs},
	{name: "--skip-headers", alone: true, idle: logs},
	{name: "--skip-log-headers", alone: true, idle: logs},
	{name: "--one-output", alone: true, idle: logs},
}

// argument is a flag with its value, or a word that is not a flag.
type argument struct {
	// name is the flag's name as the author has written it. It is empty for a word that is not a flag.
	name string
	// flag is nil for an unknown flag.
	flag *flag
	// at is its position, value its value. missing reports whether a required value is missing.
	at, value word
	missing   bool
}

// parse parses the words after kubeadm as its own parser does (github.com/spf13/pflag).
func parse(rest []word) []argument {
	var all []argument
	for len(rest) > 0 {
		at := rest[0]
		rest = rest[1:]
		a := argument{at: at, value: at}
		switch text := at.text; {
		case text == "--":
			for _, w := range rest {
				all = append(all, argument{at: w, value: w})
			}
			return all
		case len(text) < 2 || text[0] != '-':
		default:
			var has bool
			a.name, a.value.text, has = strings.Cut(text, "=")
			if text[1] != '-' { // the value may follow the letter
				a.name, a.value.text = text[:2], strings.TrimPrefix(text[2:], "=")
				has = len(text) > 2
			}
			a.flag = flagOf(a.name)
			switch {
			case has || a.flag == nil:
			case a.flag.alone:
				a.value.text = "true"
			case len(rest) == 0 || strings.HasPrefix(rest[0].text, "--"):
				a.missing = true
			default:
				a.value, rest = rest[0], rest[1:]
			}
		}
		all = append(all, a)
	}
	return all
}

// flagOf returns a flag by its name or letter. In the log's flags, an underscore is a hyphen (k8s.io/component-base, cli/flag:
// WordSepNormalizeFunc).
func flagOf(name string) *flag {
	for i := range flags {
		f := &flags[i]
		if f.name == name || f.idle == logs && f.name == strings.ReplaceAll(name, "_", "-") || f.short != 0 && name == "-"+string(f.short) {
			return f
		}
	}
	return nil
}

// ordinary returns the words that are neither flags nor a flag's value.
func ordinary(all []argument) []word {
	var plain []word
	for _, a := range all {
		if a.name == "" {
			plain = append(plain, a.at)
		}
	}
	return plain
}

// joinsControlPlane reports whether the arguments are for a control plane node.
func joinsControlPlane(all []argument) bool {
	joins := false
	for _, a := range all {
		if a.flag != nil && a.flag.name == controlPlaneFlag {
			joins = isTrue(a.value.text)
		}
	}
	return joins
}
