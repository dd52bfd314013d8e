package azure

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Settings are those of the program that launches nodes: the options of Karpenter for Azure. They are never changed; [Reload]
// makes new ones.
type Settings struct {
	// Cluster is the cluster's name, Endpoint its API server's URL.
	Cluster, Endpoint string
	// KubernetesVersion is the version of new nodes; empty for the cluster's own. It is Slipway's own setting.
	KubernetesVersion string
	// JoinMethod is how nodes join: "BootstrapToken", or "Attested" without a token; empty for the first. It is Slipway's own, too.
	JoinMethod string
	// MemoryOverhead is the part of a machine's memory that the hypervisor keeps.
	MemoryOverhead float64
	// BootstrapToken is the one that nodes join with.
	BootstrapToken nodeconfig.Secret
	AdminUser      string
	SSHPublicKey   string
	// NetworkPlugin, NetworkMode, NetworkPolicy and NetworkDataplane are the cluster's network.
	NetworkPlugin, NetworkMode, NetworkPolicy, NetworkDataplane string
	DNSServiceIP                                                string
	VNetGUID                                                    string
	SubnetID                                                    string
	ClusterID                                                   string
	Identities                                                  []string
	KubeletIdentity                                             string
	NodeResourceGroup                                           string
	DiskEncryptionSet                                           string
	Tags                                                        map[string]string
	// Subscription, Tenant, Location and Cloud are the environment of the program.
	Subscription, Tenant, Location, Cloud string

	// given are the options that somebody has set, by name, and where; places are where in there: a line, or a variable.
	given, places map[string]string
	// raw are all values.
	raw map[string]string
	// said are the layers of the settings. hashedID is the cluster ID that the API server's name has, hashErr why it has none.
	said     []launch.Layer
	hashedID string
	hashErr  error
}

// Given says where an option was set; empty for nowhere, then it has its default.
func (s *Settings) Given(option string) string { return s.given[option] }

// option is one of the settings.
type option struct {
	// name is its name as a flag of Karpenter and in a YAML document, variables are its names in the environment, the first
	// one that is set counts. former is its key in the ConfigMap karpenter-global-settings.
	name      string
	variables []string
	former    string
	standard  string
	required  bool
	secret    bool
	// check returns what is wrong with a value that is not empty.
	check func(string) string
	// set takes a value that has been checked; nil for an option that concerns the controller and no node.
	set func(*Settings, string)
}

func text(field func(*Settings) *string) func(*Settings, string) {
	return func(s *Settings, v string) { *field(s) = v }
}

func list(v string) []string {
	var items []string
	for item := range strings.SplitSeq(v, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// provisionModes are Karpenter's; a template of Slipway's is for the first two alone.
var provisionModes = []string{"aksscriptless", "bootstrappingclient", "aksmachineapi", "aksmachineapiheaderbatch"}

// options are all settings (Karpenter for Azure v1.7: pkg/operator/options; the former keys: its pkg/apis/settings of 2023).
var options = []option{
	{name: "cluster-name", variables: []string{"CLUSTER_NAME"}, former: "azure.clusterName", required: true, check: plain, set: text(func(s *Settings) *string { return &s.Cluster })},
	{name: "cluster-endpoint", variables: []string{"CLUSTER_ENDPOINT"}, former: "azure.clusterEndpoint", required: true, check: absoluteURL, set: text(func(s *Settings) *string { return &s.Endpoint })},
	{name: "kubernetes-version", set: text(func(s *Settings) *string { return &s.KubernetesVersion })},
	{name: "join-method", check: among(string(nodeconfig.JoinBootstrapToken), string(nodeconfig.JoinAttested)), set: text(func(s *Settings) *string { return &s.JoinMethod })},
	{name: "vm-memory-overhead-percent", variables: []string{"VM_MEMORY_OVERHEAD_PERCENT"}, former: "azure.vmMemoryOverheadPercent", standard: "0.075", check: fraction, set: func(s *Settings, v string) { s.MemoryOverhead, _ = strconv.ParseFloat(v, 64) }},
	{name: "kubelet-bootstrap-token", variables: []string{"KUBELET_BOOTSTRAP_TOKEN"}, former: "azure.kubeletClientTLSBootstrapToken", secret: true, check: token, set: func(s *Settings, v string) { s.BootstrapToken = nodeconfig.NewSecret(v) }},
	{name: "linux-admin-username", variables: []string{"LINUX_ADMIN_USERNAME"}, standard: "azureuser", check: userName, set: text(func(s *Settings) *string { return &s.AdminUser })},
	{name: "ssh-public-key", variables: []string{"SSH_PUBLIC_KEY"}, former: "azure.sshPublicKey", required: true, check: oneLine, set: text(func(s *Settings) *string { return &s.SSHPublicKey })},
	{name: "network-plugin", variables: []string{"NETWORK_PLUGIN"}, former: "azure.networkPlugin", standard: "azure", check: among("azure", "none"), set: text(func(s *Settings) *string { return &s.NetworkPlugin })},
	{name: "network-plugin-mode", variables: []string{"NETWORK_PLUGIN_MODE"}, standard: "overlay", check: among("overlay"), set: text(func(s *Settings) *string { return &s.NetworkMode })},
	{name: "network-policy", variables: []string{"NETWORK_POLICY"}, former: "azure.networkPolicy", check: among("azure", "calico", "cilium", "none"), set: text(func(s *Settings) *string { return &s.NetworkPolicy })},
	{name: "network-dataplane", variables: []string{"NETWORK_DATAPLANE"}, standard: "cilium", check: among("azure", "cilium"), set: text(func(s *Settings) *string { return &s.NetworkDataplane })},
	{name: "dns-service-ip", variables: []string{"DNS_SERVICE_IP"}, check: address, set: text(func(s *Settings) *string { return &s.DNSServiceIP })},
	{name: "vnet-guid", variables: []string{"VNET_GUID", "AZURE_VNET_GUID"}, check: guid, set: text(func(s *Settings) *string { return &s.VNetGUID })},
	{name: "vnet-subnet-id", variables: []string{"VNET_SUBNET_ID"}, required: true, check: subnetID, set: text(func(s *Settings) *string { return &s.SubnetID })},
	{name: "cluster-id", former: "azure.clusterID", check: clusterID, set: text(func(s *Settings) *string { return &s.ClusterID })},
	{name: "node-identities", variables: []string{"NODE_IDENTITIES"}, former: "azure.nodeIdentities", check: oneLine, set: func(s *Settings, v string) { s.Identities = list(v) }},
	{name: "kubelet-identity-client-id", variables: []string{"KUBELET_IDENTITY_CLIENT_ID"}, check: guid, set: text(func(s *Settings) *string { return &s.KubeletIdentity })},
	{name: "node-resource-group", variables: []string{"AZURE_NODE_RESOURCE_GROUP"}, required: true, check: resourceGroup, set: text(func(s *Settings) *string { return &s.NodeResourceGroup })},
	{name: "provision-mode", variables: []string{"PROVISION_MODE"}, standard: provisionModes[0], check: among(provisionModes...)},
	{name: "nodebootstrapping-server-url", variables: []string{"NODEBOOTSTRAPPING_SERVER_URL"}, secret: true, check: absoluteURL},
	{name: "use-sig", variables: []string{"USE_SIG"}, standard: "false", check: among("true", "false")},
	{name: "sig-access-token-server-url", variables: []string{"SIG_ACCESS_TOKEN_SERVER_URL"}, secret: true, check: absoluteURL},
	{name: "sig-subscription-id", variables: []string{"SIG_SUBSCRIPTION_ID"}, check: guid},
	{name: "node-osdisk-diskencryptionset-id", variables: []string{"NODE_OSDISK_DISKENCRYPTIONSET_ID"}, check: encryptionSet, set: text(func(s *Settings) *string { return &s.DiskEncryptionSet })},
	{name: "manage-existing-aks-machines", variables: []string{"MANAGE_EXISTING_AKS_MACHINES"}, standard: "false", check: among("true", "false")},
	{name: "aks-machines-pool-name", variables: []string{"AKS_MACHINES_POOL_NAME"}, check: plain},
	{name: "provider-batch-idle-duration", variables: []string{"PROVIDER_BATCH_IDLE_DURATION"}, standard: "1s", check: duration},
	{name: "provider-batch-max-duration", variables: []string{"PROVIDER_BATCH_MAX_DURATION"}, standard: "5s", check: duration},
	{name: "provider-batch-max-size", variables: []string{"PROVIDER_BATCH_MAX_SIZE"}, standard: "50", check: batchSize},
	{name: "additional-tags", variables: []string{"ADDITIONAL_TAGS"}, former: "azure.tags", check: tagList, set: func(s *Settings, v string) { s.Tags, _ = parseTags(v) }},
	{name: "enable-azure-sdk-logging", variables: []string{"ENABLE_AZURE_SDK_LOGGING"}, standard: "true", check: among("true", "false")},
	{name: "subscription-id", variables: []string{"AZURE_SUBSCRIPTION_ID", "ARM_SUBSCRIPTION_ID"}, required: true, check: guid, set: text(func(s *Settings) *string { return &s.Subscription })},
	{name: "tenant-id", variables: []string{"AZURE_TENANT_ID", "ARM_TENANT_ID"}, check: guid, set: text(func(s *Settings) *string { return &s.Tenant })},
	{name: "location", variables: []string{"LOCATION"}, required: true, check: plain, set: text(func(s *Settings) *string { return &s.Location })},
	{name: "cloud", variables: []string{"ARM_CLOUD"}, standard: "AzurePublicCloud", check: among(clouds...), set: text(func(s *Settings) *string { return &s.Cloud })},
	{name: "cluster-resource-group", variables: []string{"ARM_RESOURCE_GROUP"}, check: resourceGroup},
}

// clouds are Azure's, by the names that its cloud provider has.
var clouds = []string{"AzurePublicCloud", "AzureChinaCloud", "AzureUSGovernmentCloud", "AzureUSGovernment"}

// environment are the options that are the environment of the program (AKS Node Bootstrapping: "Environment variables").
var environment = []string{"subscription-id", "tenant-id", "location", "cloud"}

// SettingsSource is one place that settings are from: a document, or the environment.
type SettingsSource struct {
	// Name is the place, for people.
	Name string
	// Document is a YAML or JSON document with the options by their names, or a ConfigMap of Kubernetes with options, their
	// former keys or their variables in its data.
	Document []byte
	// Variables are environment variables, by name. Others than those of the options are not looked at.
	Variables map[string]string
}

// Reload makes settings of sources; a later one goes before an earlier one. Where anything is wrong it returns all problems,
// and the old settings as they are: settings take effect as a whole or not at all. Old may be nil.
func Reload(old *Settings, sources ...SettingsSource) (*Settings, []nodeconfig.Problem) {
	s := &Settings{given: make(map[string]string), places: make(map[string]string), raw: make(map[string]string)}
	var all problems
	for _, source := range sources {
		p := problems{at: source.Name}
		s.read(&p, &source)
		all.list = append(all.list, p.list...)
	}
	for i := range options {
		o := &options[i]
		v, said := s.raw[o.name]
		switch {
		case !said:
			v = o.standard
		case v != "" && o.check != nil:
			if reason := o.check(v); reason != "" {
				all.at = s.given[o.name]
				all.wrong(field("$", o.name), reason)
				continue
			}
		}
		s.raw[o.name] = v
		if v == "" && o.required {
			all.at = "settings"
			all.add(true, nodeconfig.Missing, field("$", o.name), "is missing")
		}
		if o.set != nil {
			o.set(s, v)
		}
	}
	all.at = "settings"
	all.together(s)
	nodeconfig.SortProblems(all.list)
	if len(nodeconfig.Fatal(all.list)) > 0 {
		return old, all.list
	}
	s.said = s.layers()
	if u, err := url.Parse(s.Endpoint); err == nil {
		s.hashedID, s.hashErr = HashedClusterID(u.Hostname())
	}
	return s, all.list
}

// read takes what a source says.
func (s *Settings) read(p *problems, source *SettingsSource) {
	for i := range options {
		for _, name := range slices.Backward(options[i].variables) {
			if v, ok := source.Variables[name]; ok {
				s.raw[options[i].name], s.given[options[i].name], s.places[options[i].name] = v, p.at, name
			}
		}
	}
	if source.Document == nil {
		return
	}
	tree, err := document.Parse(source.Document)
	if err != nil {
		unreadable := nodeconfig.Unreadable(err)
		unreadable.Document = p.at
		p.list = append(p.list, unreadable)
		return
	}
	fields, path := tree, "$"
	if kind, ok := tree.Get("kind"); ok && kind.Text == "ConfigMap" {
		if fields, ok = tree.Get("data"); !ok {
			p.add(true, nodeconfig.Missing, "$.data", "is missing; the ConfigMap has no settings")
			return
		}
		path = "$.data"
	}
	for i := range fields.Fields {
		f := &fields.Fields[i]
		at := field(path, f.Name)
		o := optionOf(f.Name)
		switch {
		case o == nil:
			reason := "unknown setting"
			if near := document.Nearest(f.Name, optionNames()); near != "" {
				reason += "; did you mean " + near + "?"
			}
			p.add(true, nodeconfig.Unknown, at, reason)
		case f.Value.Kind == document.List || f.Value.Kind == document.Map:
			p.add(true, nodeconfig.WrongType, at, "is "+f.Value.Kind.String()+", want a text")
		case f.Value.Kind != document.Null:
			s.raw[o.name], s.given[o.name], s.places[o.name] = f.Value.Text, p.at, lineOf(&f.Value)
		}
	}
}

// optionOf is the option that has a name, a former key or a variable.
func optionOf(name string) *option {
	i := slices.IndexFunc(options, func(o option) bool {
		return o.name == name || o.former == name || slices.Contains(o.variables, name)
	})
	if i < 0 || name == "" {
		return nil
	}
	return &options[i]
}

// together checks what concerns several options.
func (p *problems) together(s *Settings) {
	at := func(name string) string { return field("$", name) }
	raw := s.raw
	if s.NetworkPlugin == "none" && s.NetworkMode != "" {
		p.wrong(at("network-plugin-mode"), `must be "" where network-plugin is none`)
	}
	if raw["use-sig"] == "true" && raw["sig-subscription-id"] == "" {
		p.add(true, nodeconfig.Missing, at("sig-subscription-id"), "is missing; use-sig takes it")
	}
	switch mode := raw["provision-mode"]; {
	case mode == provisionModes[2] || mode == provisionModes[3]:
		p.wrong(at("provision-mode"), "makes nodes by AKS's own interface, which takes no template; use "+provisionModes[0])
	case mode == provisionModes[1] && raw["nodebootstrapping-server-url"] == "":
		p.add(true, nodeconfig.Missing, at("nodebootstrapping-server-url"), "is missing; provision-mode "+mode+" takes it")
	}
	idle, err := time.ParseDuration(raw["provider-batch-idle-duration"])
	longest, err2 := time.ParseDuration(raw["provider-batch-max-duration"])
	if err == nil && err2 == nil && longest < idle {
		p.wrong(at("provider-batch-max-duration"), "want at least provider-batch-idle-duration")
	}
}

// parseTags reads tags as Karpenter has them, KEY=VALUE with commas between, or as JSON, which the former ConfigMap had.
func parseTags(v string) (map[string]string, bool) {
	tags := make(map[string]string)
	if strings.HasPrefix(strings.TrimSpace(v), "{") {
		return tags, json.Unmarshal([]byte(v), &tags) == nil
	}
	for _, item := range list(v) {
		key, value, found := strings.Cut(item, "=")
		if !found || key == "" {
			return tags, false
		}
		tags[key] = value
	}
	return tags, true
}

func tagList(v string) string {
	tags, ok := parseTags(v)
	if !ok {
		return "want tags such as team=blue,cost=42"
	}
	p := new(problems)
	p.tags("$", tags)
	nodeconfig.SortProblems(p.list)
	if len(p.list) > 0 {
		return "has a tag that " + p.list[0].Reason
	}
	return ""
}

// optionNames are the names of all settings, sorted.
var optionNames = sync.OnceValue(func() []string {
	names := make([]string, 0, len(options))
	for _, o := range options {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return names
})

func duration(v string) string {
	if d, err := time.ParseDuration(v); err != nil || d < 0 {
		return "want a duration such as 1s"
	}
	return ""
}

func batchSize(v string) string {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 50 {
		return "want a number from 1 to 50"
	}
	return ""
}

func fraction(v string) string {
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f >= 0 && f < 1) {
		return "want a number from 0 to 1, such as 0.075"
	}
	return ""
}

func among(allowed ...string) func(string) string {
	return func(v string) string {
		if !slices.Contains(allowed, v) {
			return fmt.Sprintf("want one of %s", strings.Join(allowed, ", "))
		}
		return ""
	}
}

// Option describes one of the settings, with its value.
type Option struct {
	// Name is the option's, Variables are its names in the environment, Former its key in the ConfigMap of 2023.
	Name      string   `json:"name"`
	Variables []string `json:"variables,omitempty"`
	Former    string   `json:"former,omitempty"`
	Default   string   `json:"default,omitempty"`
	Required  bool     `json:"required,omitempty"`
	// Value is what is in force; of a secret "[redacted]". Given says where it was set; empty for nowhere.
	Value string `json:"value,omitempty"`
	Given string `json:"given,omitempty"`
}

// Options are all settings by name, with the values of s, which may be nil.
func (s *Settings) Options() []Option {
	all := make([]Option, 0, len(options))
	for i := range options {
		o := &options[i]
		shown := Option{Name: o.name, Variables: slices.Clone(o.variables), Former: o.former, Default: o.standard, Required: o.required}
		if s != nil {
			shown.Value, shown.Given = s.raw[o.name], s.given[o.name]
		}
		if o.secret && shown.Value != "" {
			shown.Value = nodeconfig.Redacted
		}
		all = append(all, shown)
	}
	slices.SortFunc(all, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	return all
}
