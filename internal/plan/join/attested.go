package join

import (
	"cmp"
	"net/url"
	"path"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// attested plans how a node joins with its machine's attested identity: a client of the image's gets a certificate for
// it, and writes it and a kubeconfig where the kubelet looks for them (AKS: secure TLS bootstrapping). It runs while the container
// runtime starts. The kubelet's start pulls it in, too, and waits for its end. Where it fails, the kubelet joins with the bootstrap
// token, if the contract has one; otherwise it ends, and its next start runs the client again.
var attested = concern.Concern{
	Name:  "attested identity",
	Joins: true,
	Reads: []string{
		"$.cluster.server",
		"$.join.attested",
		"$.join.bootstrapToken",
		"$.kubelet.flags",
	},
	Plan: planAttested,
}

// attestedSteps are the client's steps with a timeout: what the contract calls them, the client's flag, and its default
// (Azure/aks-secure-tls-bootstrap: client/README.md). The flags are in the order of AKS's (AKS:
// configureAndEnableSecureTLSBootstrapping).
var attestedSteps = []struct {
	step, flag string
	byDefault  time.Duration
}{
	{"validateKubeconfig", "validate-kubeconfig-timeout", 15 * time.Second},
	{"accessToken", "get-access-token-timeout", time.Minute},
	{"instanceData", "get-instance-data-timeout", 15 * time.Second},
	{"nonce", "get-nonce-timeout", 15 * time.Second},
	{"attestedData", "get-attested-data-timeout", 15 * time.Second},
	{"credential", "get-credential-timeout", 6 * time.Minute},
}

// attestedSpare is the time that the client may take beyond the timeouts of its steps before systemd ends it: a kubelet with a
// token must not wait for a client that hangs.
const attestedSpare = 30 * time.Second

// attestedLongest is how long a step is waited for at most.
const attestedLongest = 24 * time.Hour

// attestedRestarts is how often the client may fail, and be run again because the kubelet starts again, before the
// provisioning fails: metadata services and API servers are away for a moment now and then.
const attestedRestarts = 2

// attestedClient downloads the client, which replaces the image's (AKS: downloadSecureTLSBootstrapClient).
var attestedClient = concern.Concern{
	Name:  "client for an attested identity",
	Joins: true,
	Reads: []string{setting.Artifact(concern.ClientName)},
	Plan:  planAttestedClient,
}

func planAttestedClient(in *concern.Input, out *concern.Output) {
	artifact, program := in.Config.Components.Artifacts[concern.ClientName], in.Family.Attested.Client
	if program == "" || !concern.BringsClient(in.Config) {
		if len(concern.Places(artifact)) > 0 {
			out.Warn(nodeconfig.NoEffect, setting.Artifact(concern.ClientName)+".url", "has no effect, because no client for an attested identity joins the node")
		}
		return
	}
	name := path.Base(program)
	if !artifact.Force && in.Client == program && concern.ProgramOf(in.Facts, program) != "" && len(in.Facts.Components) > 0 {
		return // the image has one
	}
	d := out.Download(exitcode.AttestedClientMissing, "the client for an attested identity, from the contract's place", &resource.Download{
		Component: concern.ClientName, From: concern.Places(artifact), SHA256: artifact.SHA256,
		Files: []resource.Unpacked{{Name: name, Members: []string{name, "*/" + name, "usr/bin/" + name}}},
	})
	out.Program(d, name, program, "the client for an attested identity, which was brought")
}

func planAttested(in *concern.Input, out *concern.Output) {
	if in.Config.Join.Method != nodeconfig.JoinAttested {
		return
	}
	a := &in.Family.Attested
	if a.Unit == "" {
		if in.Config.Join.Attested != nil {
			out.NotApplied("$.join.attested")
		}
		out.Fatal(nodeconfig.Invalid, "$.join.method", "needs a client that nodes of this layout have not; use another method, or a layout whose nodes have it")
		return
	}
	if in.Client == "" {
		reason := "needs " + path.Base(a.Client) + ", and the machine has none; "
		if in.Method == nodeconfig.JoinAttested {
			out.Fatal(nodeconfig.NotInstalled, "$.join.attested", "%s", reason+"use an image that has it, or give the node a bootstrap token")
		} else {
			out.Warn(nodeconfig.NotInstalled, "$.join.attested", "%s", reason+"the node joins with its bootstrap token")
		}
		return
	}
	server, err := url.Parse(in.Config.Cluster.Server)
	if err == nil && cmp.Or(server.Port(), "443") != "443" {
		out.Fatal(nodeconfig.Invalid, "$.cluster.server", "has another port than 443, and the client for an attested identity knows no other")
	}
	if in.Config.Cloud.Azure == nil {
		out.Fatal(nodeconfig.Missing, "$.cloud.azure", "is missing, and the client for an attested identity reads it; give the cluster's cloud, and the identity")
	}
	if in.Certificate == "" {
		out.Fatal(nodeconfig.Invalid, "$.kubelet.flags", "cert-dir is not a plain absolute path, and the client for an attested identity writes the certificate there")
	}
	if err != nil || in.Certificate == "" {
		return
	}
	planAttestedUnit(in, out, server.Hostname())
	planAttestedStart(in, out)
	planAttestedChecks(in, out)
}

// planAttestedStart starts the client as early as possible, and not only when the kubelet starts. The kubelet's start needs no
// order after that: systemd has it wait while the client runs, and a client that has failed slowly is not run twice for it. Without
// an agent, the client starts with the kubelet.
func planAttestedStart(in *concern.Input, out *concern.Output) {
	if in.Agentless {
		return
	}
	r := out.Join("", &resource.Unit{Unit: in.Family.Attested.Unit, Ahead: in.Certificate}, exitcode.AttestedBootstrapFailed,
		"gets the node its certificate while the container runtime starts")
	r.Requires = []resource.ID{concern.OutboundGroup.All(), concern.TrustGroup.All(), resource.IDOf(&resource.Unit{Unit: in.Family.Kubelet.Prepare})}
	r.After = []resource.ID{concern.NetworkGroup.All()}
}

// planAttestedUnit plans the client's unit, and its environment.
func planAttestedUnit(in *concern.Input, out *concern.Output, server string) {
	a := &in.Family.Attested
	flags, patience := attestedFlags(in, server)
	variables := [][2]string{{a.Flags, textfile.Flags(flags)}}
	if azure := in.Config.Cloud.Azure; azure != nil && azure.Custom != nil {
		variables = append(variables, [2]string{a.CustomCloud, in.Family.Paths.CustomCloud})
	}
	// A change of it takes effect at once: if the client has failed, the kubelet's start runs it again.
	add := func(reason string, spec resource.Spec) {
		out.Append(resource.Resource{
			Phase: resource.Join, Effects: resource.Restarting(concern.KubeletUnit), Spec: spec, Reason: reason,
			ExitCode: exitcode.AttestedBootstrapFailed,
		})
	}
	add("settings of the client for the machine's attested identity", &resource.File{
		Path: a.Environment, Mode: 0o600, Content: textfile.Environment(variables...),
	})
	add("gets the node its certificate before the kubelet starts", &resource.File{
		Path: resource.UnitDir + "/" + a.Unit, Mode: 0o644, Content: unitfile.File(
			unitfile.Section("Unit"),
			unitfile.Set("Description", "Get the node its certificate for the machine's attested identity"),
			unitfile.Comment("Where the image has no client, the kubelet starts all the same: it may have a token."),
			unitfile.Set("ConditionPathExists", unitfile.Quote(in.Client)),
			unitfile.Comment("It does not wait for the rest of the boot, of which cloud-init can be a part."),
			unitfile.Set("DefaultDependencies", "no"),
			unitfile.Set("After", "local-fs.target systemd-tmpfiles-setup.service"),
			unitfile.Set("Conflicts", "shutdown.target"),
			unitfile.Set("Before", "shutdown.target"),
			unitfile.Comment("From then on the network is there as far as the kubelet needs it."),
			unitfile.Set("After", profile.AgentUnit),
			unitfile.Comment("What precedes the kubelet has removed a certificate that a power cut has left empty."),
			unitfile.Set("After", unitfile.Quote(in.Family.Kubelet.Prepare)),
			unitfile.Section("Service"),
			unitfile.Set("Type", "oneshot"),
			unitfile.Set("RemainAfterExit", "yes"),
			unitfile.Set("TimeoutStartSec", unitfile.Number(int(patience.Seconds()))),
			unitfile.Command("ExecStart",
				unitfile.Quote(in.Client),
				"--verbose",
				"--ensure-authorized",
				"--next-proto="+unitfile.Quote(a.Protocol),
				"--kubeconfig="+unitfile.Quote(in.Family.Paths.Kubeconfig),
				"--cert-dir="+unitfile.Quote(path.Dir(in.Certificate)),
				"--cluster-ca-file="+unitfile.Quote(in.Family.Paths.CA),
				"--log-file="+unitfile.Quote(a.Log),
				unitfile.Variable(a.Flags),
			),
		),
	})
	add(concern.Sourced("comes before the kubelet", a.DropIn.Source), &resource.File{
		Path: resource.UnitDir + "/" + a.Unit + ".d/" + a.DropIn.File, Mode: a.DropIn.Mode, Content: unitfile.File(
			unitfile.Section("Unit"),
			unitfile.Set("Before", concern.KubeletUnit),
			unitfile.Section("Service"),
			unitfile.Set("EnvironmentFile", unitfile.Quote(a.Environment)),
			unitfile.Section("Install"),
			unitfile.Set("WantedBy", concern.KubeletUnit),
		),
	})
	add("starts with the kubelet", &resource.Symlink{
		Path: resource.UnitDir + "/" + concern.KubeletUnit + ".wants/" + a.Unit, Target: resource.UnitDir + "/" + a.Unit,
	})
}

// attestedFlags are those of the client that the contract decides, and how long it may take.
func attestedFlags(in *concern.Input, server string) (flags [][2]string, patience time.Duration) {
	given := cmp.Or(in.Config.Join.Attested, &nodeconfig.AttestedBootstrap{})
	flags = [][2]string{
		{"aad-resource", cmp.Or(given.Resource, in.Family.Attested.Resource)},
		{"apiserver-fqdn", server},
		{"cloud-provider-config", in.Family.Paths.CloudConfig},
	}
	if given.IdentityID != "" {
		flags = append(flags, [2]string{"user-assigned-identity-id", given.IdentityID})
	}
	patience = attestedSpare
	for _, s := range attestedSteps {
		limit := given.Timeouts[s.step]
		patience += min(cmp.Or(limit.Std(), s.byDefault), attestedLongest)
		if limit > 0 {
			flags = append(flags, [2]string{s.flag, limit.String()})
		}
	}
	return flags, patience
}

// planAttestedChecks plans the checks of the client: whether the program exists, before the kubelet starts, and how its run
// ended. A node that has its certificate does not need the client any more.
func planAttestedChecks(in *concern.Input, out *concern.Output) {
	ran := &resource.Check{
		Label: "attested-identity", Unless: in.Certificate, UnitActive: in.Family.Attested.Unit,
	}
	started := []resource.ID{concern.StartGroup.All()}
	if in.FallsBack() {
		ran.Advisory = true
		out.Append(resource.Resource{
			Phase: resource.Join, Requires: started, ExitCode: exitcode.AttestedBootstrapFailed,
			Reason: "the client has got the node its certificate; otherwise the node joins with its token", Spec: ran,
		})
		return
	}
	out.AppendTo(concern.KubeletGroup, resource.Resource{
		Phase:    resource.Join,
		ExitCode: exitcode.AttestedClientMissing,
		Reason:   "systemd would skip the client's unit without it, without an error",
		Spec:     &resource.Check{Label: "attested-client", PathExists: in.Client},
	})
	_, patience := attestedFlags(in, "")
	ran.Restarts, ran.Timeout = attestedRestarts, resource.Duration(patience*(attestedRestarts+1))
	out.AppendTo(concern.JoinedGroup, resource.Resource{
		Phase: resource.Join, Requires: started, ExitCode: exitcode.AttestedBootstrapFailed,
		Reason: "the client has got the node its certificate, without which the kubelet ends", Spec: ran,
	})
}
