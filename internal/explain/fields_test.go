package explain

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/examples"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
	"github.com/slipway-dev/slipway/test/contracts"
	"github.com/slipway-dev/slipway/test/detector"
)

// together are the settings that a field needs to have an effect, merged over the example, by the beginning of the
// path.
var together = []struct{ path, document string }{
	{"$.join.exec", `{"join": {"method": "Exec", "bootstrapToken": null, "exec": {"command": "/opt/plugin", "apiVersion": "client.authentication.k8s.io/v1"}}}`},
	{"$.join.clientCertificate", clientCertificate},
	{"$.join.discoveryToken", `{"cluster": {"certificateAuthority": null, "unsafeSkipCAVerification": true}}`},
	{"$.cluster.unsafeSkipCAVerification", `{"cluster": {"certificateAuthority": null}}`},
	{"$.discovery.bootstrapToken.unsafeSkipCAVerification", `{"discovery": {"bootstrapToken": {"caCertHashes": null}}}`},
	{"$.kube_binary_config.kube_binary_url", `{"kubernetes_version": "1.30.99"}`},
	{"$.kube_binary_config.private_kube_binary_url", `{"kubernetes_version": "1.30.99"}`},
	{"$.kubelet.imageCredentialProvider", `{"kubelet": {"imageCredentialProvider": {"binDir": "/opt/bin", "config": {"kind": "CredentialProviderConfig"}}}}`},
	{"$.cloud.azure", `{"cloud": {"provider": "azure", "azure": {"environment": "AzurePublicCloud"}}}`},
	{"$.cloud.azure.backoff", `{"cloud": {"azure": {"backoff": {"enabled": true, "mode": "default"}}}}`},
	{"$.cloud.azure.rateLimit", `{"cloud": {"azure": {"rateLimit": {"enabled": true}}}}`},
	{"$.cloud.azure.custom", `{"cloud": {"azure": {"environment": "AKSCustom", "custom": {"endpoints": "{}"}}}}`},
	{"$.status.kubernetesNetworkConfig", `{"kubernetesNetworkConfig": null}`},
	{"$.cloud.aws", `{"cloud": {"provider": "aws"}}`},
	{"$.runtime.containerd.baseRuntimeSpec", `{"runtime": {"containerd": {"baseRuntimeSpec": {"hostname": "a"}}}}`},
	{"$.runtime.registries", `{"runtime": {"registries": {"docker.io": {"mirrors": [{"url": "https://mirror.example"}]}}}}`},
	{"$.components.preinstalled", `{"components": {"layout": "aks"}}`},
	{"$.network.ipFamilies", `{"components": {"layout": "aks"}}`},
	{"$.cluster_config.cloud_provider_config.backoff_", `{"cluster_config": {"cloud_provider_config": {"backoff": true, "backoff_mode": "default"}}}`},
	{"$.custom_cloud_config", `{"custom_cloud_config": {"custom_cloud_env_name": "akscustom"}}`},
	{"$.http_proxy_config.no_proxy", `{"http_proxy_config": {"http_proxy": "http://proxy.example:3128"}}`},
	{"$.proxy.noProxy", `{"proxy": {"http": "http://proxy.example:3128"}}`},
	{"$.network.policy", `{"network": {"plugin": "azure"}}`},
	{"$.kubelet_config.kubelet_client", `{"bootstrapping_config": null}`},
	{"$.kubelet_config.kubelet_config_file_config.streaming", `{"kubernetes_version": "1.33.1"}`},
	{"$.bootstrapping_config.secure_tls", `{"bootstrapping_config": {"bootstrapping_auth_method": 2}}`},
	{"$.system.gpu", `{"system": {"gpu": {"vendor": "nvidia"}}}`},
	{"$.system.gpu.strategy", `{"system": {"gpu": {"managed": true, "instanceProfile": "MIG1g"}}}`},
	{"$.network.hostsAgent", `{"cluster": {"server": "https://a.privatelink.eastus.azmk8s.io"}}`},
	{"$.enable_hosts_config_agent", `{"api_server_config": {"api_server_name": "a.privatelink.eastus.azmk8s.io"}}`},
	{"$.gpu_config", `{"gpu_config": {"enable_nvidia": true}}`},
	{"$.gpu_config.managed_gpu_experience", `{"gpu_config": {"enable_managed_gpu": true}}`},
	{"$.service_account_image_pull_profile.enabled", `{"kubelet_config": {"kubelet_flags": {"--image-credential-provider-bin-dir": "/b", "--image-credential-provider-config": "/var/lib/kubelet/credential-provider-config.yaml"}}, "service_account_image_pull_profile": {"local_authority_sni": "a"}}`},
	{"$.service_account_image_pull_profile", `{"kubelet_config": {"kubelet_flags": {"--image-credential-provider-bin-dir": "/b", "--image-credential-provider-config": "/var/lib/kubelet/credential-provider-config.yaml"}}, "service_account_image_pull_profile": {"enabled": true, "local_authority_sni": "a"}}`},
	{"$.gpu_config.mig_strategy", `{"gpu_config": {"enable_managed_gpu": true, "gpu_instance_profile": "MIG1g"}}`},
	{"$.kube_binary_config", `{"is_vhd": false}`},
	{"$.runc_config", `{"is_vhd": false}`},
	{"$.containerd_config", `{"is_vhd": false}`},
	{"$.system.swapDisk", `{"system": {"swapMB": 512}, "kubelet": {"config": {"failSwapOn": false}}}`},
	{"$.system.swapMB", `{"kubelet": {"config": {"failSwapOn": false}}}`},
	{"$.custom_linux_os_config.enable_swap_config", `{"custom_linux_os_config": {"swap_file_size": 1000}}`},
	{"$.custom_linux_os_config.swap_file_size", `{"custom_linux_os_config": {"enable_swap_config": true}}`},
	{"$.custom_search_domain_config", `{"custom_search_domain_config": {"domain_name": "example", "realm_user": "user", "realm_password": "password"}}`},
	{"$.imds_restriction_config.insert", `{"imds_restriction_config": {"enable_imds_restriction": true}}`},
	{"$.cluster_config.cluster_network_config.core_dns", `{"local_dns_profile": {"enable_local_dns": true, "kube_dns_overrides": {"cluster.local": {}}}}`},
	{"$.network.localDNS", `{"components": {"layout": "aks"}}`},
	{"$.network.localDNS.hosts.refresh", `{"network": {"localDNS": {"hosts": {"names": ["mcr.microsoft.com"]}}}}`},
	{"$.local_dns_profile.kube", `{"local_dns_profile": {"enable_local_dns": true}}`},
	{"$.local_dns_profile.vnet", `{"local_dns_profile": {"enable_local_dns": true}}`},
	{"$.local_dns_profile.enable_hosts_plugin", `{"local_dns_profile": {"enable_local_dns": true, "critical_fqdns": ["mcr.microsoft.com"]}}`},
	{"$.local_dns_profile.c", `{"local_dns_profile": {"enable_local_dns": true, "enable_hosts_plugin": true}}`},
	{"$.local_dns_profile.hosts", `{"local_dns_profile": {"enable_local_dns": true, "enable_hosts_plugin": true, "critical_fqdns": ["mcr.microsoft.com"]}}`},
	{"$.managedNodeGroups", `{"nodeGroups": null, "managedNodeGroups": [{"name": "workers", "amiFamily": "Ubuntu2404"}]}`},
	{"$.local_dns_profile.m", `{"local_dns_profile": {"enable_local_dns": true}}`},
}

// clientCertificate are a certificate and a key, which have an effect only together.
const clientCertificate = `{"join": {"bootstrapToken": null, "clientCertificate": {
	"certificate": "-----BEGIN CERTIFICATE-----\nZXhhbXBsZQ==\n-----END CERTIFICATE-----\n",
	"key": "-----BEGIN PRIVATE KEY-----\nZXhhbXBsZQ==\n-----END PRIVATE KEY-----\n"}}}`

// TestFieldsDocument writes docs/fields.md: every field of the contracts, and its effect; docs/contract-aks.md: the
// effect of each AKS field on the node; and their number in README.md. A field is applied if a concern reads what it
// becomes. If no concern does, the contract's author gets a warning, or the field is in dialect.Unplanned.
func TestFieldsDocument(t *testing.T) {
	detector.Skip(t)
	var out strings.Builder
	out.WriteString(fieldsHead)
	f, err := facts.Parse([]byte(readExample(t, "facts/ubuntu.json")))
	if err != nil {
		t.Fatal(err)
	}
	var sets []fieldSet
	for _, name := range dialect.Names() {
		rows := explainAll(t, name, f)
		sets = append(sets, fieldSetOf(name, rows))
		if name == dialect.AKS {
			countInReadme(t, rows)
			contracts.GoldenText(t, "../../docs/contract-aks.md", contractOfAKS(rows))
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n", dialect.Named(name).Title, count(rows))
		out.WriteString("| field | takes | | where it ends, or why not |\n|---|---|---|---|\n")
		for _, row := range rows {
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", strings.TrimPrefix(row.path, "$."), row.takes, row.state, row.where)
		}
	}
	out.WriteString(tagsHead)
	for _, tag := range facts.KnownTags {
		read := "yes"
		if tag.Unused != "" {
			read = "no: " + tag.Unused
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", tag.Name, tag.Value, tag.Changes, read)
	}
	contracts.GoldenText(t, "../../docs/fields.md", []byte(out.String()))
	writeFields(t, sets)
}

// counted is the sentence of README.md with the number of applied fields of AKS's contract.
var counted = regexp.MustCompile(`Of the \d+ fields of AKS's contract, \d+ are applied and \d+ have no effect(; each of the \d+ others is a warning where it is set)?\.`)

// countInReadme writes the numbers of that sentence: it counts fields with values, each once.
func countInReadme(t *testing.T, rows []fieldRow) {
	t.Helper()
	states := make(map[string]string)
	for _, row := range rows {
		states[row.path] = row.state
	}
	leaves := make(map[protoreflect.FullName]string)
	stateOfLeaves((*aksnodeconfigv1.Configuration)(nil).ProtoReflect().Descriptor(), "$", "", states, leaves)
	total := make(map[string]int)
	for _, state := range leaves {
		total[state]++
	}
	if sum := total[applied] + total[notYet] + total[noEffect]; sum != len(leaves) {
		t.Errorf("of %d fields %d have a state", len(leaves), sum)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !counted.Match(readme) {
		t.Fatalf("README.md does not say %s", counted)
	}
	sentence := fmt.Sprintf("Of the %d fields of AKS's contract, %d are applied and %d have no effect", len(leaves), total[applied], total[noEffect])
	if total[notYet] > 0 {
		sentence += fmt.Sprintf("; each of the %d others is a warning where it is set", total[notYet])
	}
	contracts.GoldenText(t, "../../README.md", counted.ReplaceAll(readme, []byte(sentence+".")))
}

// stateOfLeaves finds the state of each field that is not a message. The fields of messages in a map have the map's
// state.
func stateOfLeaves(m protoreflect.MessageDescriptor, path, state string, states map[string]string, leaves map[protoreflect.FullName]string) {
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		at := path + "." + string(field.Name())
		of := cmp.Or(state, states[at])
		switch {
		case field.IsMap() && field.MapValue().Message() != nil:
			stateOfLeaves(field.MapValue().Message(), at, of, states, leaves)
		case !field.IsMap() && field.Message() != nil:
			stateOfLeaves(field.Message(), at, of, states, leaves)
		case leaves[field.FullName()] != applied:
			leaves[field.FullName()] = of
		}
	}
}

const fieldsHead = `# The fields of a contract

Every field of the contracts, and what this version does with it:

* **applied**: it changes the node. The last column names the files, units and checks that depend on it, or the concerns of
  the planner that read it.
* **not yet**: nothing reads it. A contract that sets it gets a warning with its path.
* **no effect**: it changes nothing on the node, for the reason in the last column.

` + "`slipway explain FIELD`" + ` describes a field, and finds what depends on it in your contract. This page is generated
from the same code (` + "`make golden`" + `), with the contracts of [examples](../examples); a field that matters in some
contracts only is listed with what it changes there.
`

const tagsHead = `
## Tags of the virtual machine

AKS's nodes also depend on tags of their virtual machine. Slipway asks Azure's metadata service for them once, before the node
is planned, where one that it reads could change the plan. It then records what they ask for.

| tag | value | what it changes | read by this version |
|---|---|---|---|
`

// The states of a field.
const (
	applied  = "applied"
	notYet   = "not yet"
	noEffect = "no effect"
)

type fieldRow struct {
	path, takes, state, where string
	of                        *Explanation
}

func count(rows []fieldRow) string {
	states := make(map[string]int)
	for _, row := range rows {
		states[row.state]++
	}
	return fmt.Sprintf("%d fields: %d applied, %d not yet, %d without effect.\n", len(rows), states[applied], states[notYet], states[noEffect])
}

// explainAll explains every field of a dialect.
func explainAll(t *testing.T, name string, f facts.Facts) []fieldRow {
	t.Helper()
	base := parseTree(read(examples.Contract(name), name, "").Canonical())
	plain := newExperiment(name, "", base, f)
	used := make(map[string]bool)
	var rows []fieldRow
	for _, path := range plain.catalog.paths() {
		tree := base
		for _, with := range together {
			if strings.HasPrefix(path, with.path) {
				tree = contracts.Merge(tree, parseTree([]byte(with.document)))
			}
		}
		e := plain
		if tree != base {
			e = newExperiment(name, "", tree, f)
		}
		at, err := e.catalog.find(path, e.tree)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if at.shape.isStruct() {
			continue // its fields follow
		}
		x := e.explain(at)
		if x.Field != path {
			t.Errorf("%s is explained as %s", path, x.Field)
		}
		row := fieldRow{path: path, takes: strings.ReplaceAll(x.Takes, "|", "\\|"), of: x}
		row.state, row.where = stateOf(t, e, x, used)
		if row.state == "" {
			t.Errorf("%s changes nothing in the plan and gives no warning: apply it, warn about it, or add a reason to dialect.Unplanned", path)
		}
		rows = append(rows, row)
	}
	for _, r := range dialect.Unplanned(name) {
		if !used[r.Path] {
			t.Errorf("%s changes the plan, or is warned of: take it out of dialect.Unplanned", r.Path)
		}
	}
	return rows
}

// fromImage are fields that change a plan, or its warnings, only on some images, with their effect there.
var fromImage = map[string]string{
	"$.metadata.version":                    "a warning, where the installed kubelet is of another minor version",
	"$.network_config.vnet_cni_plugins_url": "which package of the image the files in `/opt/cni/bin` come from; nothing is downloaded",
}

// stateOf returns a field's state, and its effects or the reason for having none.
func stateOf(t *testing.T, e *experiment, x *Explanation, used map[string]bool) (state, where string) {
	t.Helper()
	for _, p := range x.Problems {
		if p.Kind == nodeconfig.NoEffect {
			return noEffect, strings.TrimPrefix(p.Reason, "has no effect; ") // the column before already has that
		}
	}
	switch {
	case len(x.Resources) > 0:
		where = ends(x.Resources)
	case x.Why != "":
		used[x.Field] = true
		where = x.Why
	case e.dialect != dialect.Native && x.Applied:
		where = fromImage[x.Field]
	case e.dialect == dialect.Native && x.Applied: // the concern's tests check that it reads the field
		where = "read by " + x.Readers()
	}
	switch {
	case x.Applied && where == "":
		t.Errorf("%s is read, and no other value of it changes the plan: say in together what it acts with", x.Field)
		return applied, ""
	case !x.Applied && len(x.Resources) > 0:
		t.Errorf("%s changes the plan, but no concern reads it", x.Field)
		return notYet, ""
	case x.Applied && len(x.NotApplied) > 0:
		return applied, where + "; not yet: " + cli.List(quoted(x.NotApplied), "and")
	case x.Applied:
		return applied, where
	case x.Why != "":
		return noEffect, where
	}
	if i := slices.IndexFunc(x.Problems, notApplied); i >= 0 {
		_, why, _ := strings.Cut(x.Problems[i].Reason, "; ")
		return notYet, cmp.Or(becomesIn(e, x), why)
	}
	return "", ""
}

// quoted formats paths for the table.
func quoted(paths []string) []string {
	var names []string
	for _, path := range paths {
		names = append(names, "`"+strings.TrimPrefix(path, "$.")+"`")
	}
	return names
}

// mostNamed limits the resources in a row.
const mostNamed = 3

// ends names a field's dependents: the planned ones, or else those that another value would add.
func ends(all []Dependent) string {
	planned := slices.DeleteFunc(slices.Clone(all), func(d Dependent) bool { return !d.Planned })
	if len(planned) == 0 {
		planned = all
	}
	var names []string
	for _, d := range planned[:min(len(planned), mostNamed)] {
		kind, name, _ := strings.Cut(string(d.ID), ":")
		if kind != "File" {
			name = resource.Words(kind) + " " + name
		}
		names = append(names, "`"+strings.TrimPrefix(name, "unit ")+"`")
	}
	text := strings.Join(names, ", ")
	if more := len(planned) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// becomesIn names the fields of the NodeConfig that a field of another dialect becomes.
func becomesIn(e *experiment, x *Explanation) string {
	if e.dialect == dialect.Native || len(x.Becomes) == 0 {
		return ""
	}
	var paths []string
	for _, b := range x.Becomes {
		paths = append(paths, b.Path)
	}
	return "becomes " + cli.List(quoted(paths), "and")
}
