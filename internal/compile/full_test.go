package compile_test

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// good are valid JSON values of fields for which a value of the right type alone is invalid. CA,
// CERTIFICATE and KEY are replaced by those of the examples.
var good = map[string]string{
	"$.apiVersion":                            `"slipway.dev/v1"`,
	"$.kind":                                  `"NodeConfig"`,
	"$.cluster.kubernetesVersion":             `"1.36.3"`,
	"$.cluster.server":                        `"https://api.example:6443"`,
	"$.cluster.certificateAuthority":          "CA",
	"$.cluster.serverCertificate":             "CA",
	"$.cluster.certificateAuthorityHashes[0]": `"sha256:4ba2b29ad733a249cba567266a0e7bc78a08c06704a53d87ecffecc81082f86d"`,
	"$.cluster.dnsDomain":                     `"cluster.example"`,
	"$.cluster.dnsServiceIPs[0]":              `"10.96.0.53"`,
	"$.cluster.serviceCIDRs[0]":               `"10.96.0.0/12"`,
	"$.join.method":                           `"BootstrapToken"`,
	"$.join.bootstrapToken":                   `"abcdef.0123456789abcdef"`,
	"$.join.clientCertificate.certificate":    "CERTIFICATE",
	"$.join.clientCertificate.key":            "KEY",
	"$.join.exec.apiVersion":                  `"client.authentication.k8s.io/v1"`,
	"$.join.exec.command":                     `"/opt/bin/plugin"`,
	"$.join.aws.clusterName":                  `"prod"`,
	"$.join.aws.region":                       `"us-east-1"`,
	"$.join.attested.timeouts":                `{"nonce":"90s"}`,
	"$.kubelet.nodeIPs[0]":                    `"10.0.0.4"`,
	"$.kubelet.taints[0].effect":              `"NoSchedule"`,
	"$.kubelet.config":                        `{"maxPods":30,"failSwapOn":false,"clusterDNS":["10.0.0.53"],"staticPodURLHeader":{"Authorization":["x"]}}`,
	"$.kubelet.flags[0]":                      `{"name":"v","value":"3"}`,
	"$.kubelet.imageCredentialProvider":       `{"binDir":"/opt/bin","configFile":"/etc/kubernetes/credentials.yaml","config":{"apiVersion":"kubelet.config.k8s.io/v1","kind":"CredentialProviderConfig","providers":[{"name":"p","args":["a"],"apiVersion":"credentialprovider.kubelet.k8s.io/v1","defaultCacheDuration":"1m","matchImages":["*.example"]}]}}`,
	"$.kubelet.dataDisk":                      `"Temporary"`,
	"$.runtime.sandboxImage":                  `"registry.example/pause:1"`,
	"$.runtime.cgroupDriver":                  `"cgroupfs"`,
	"$.runtime.lazyPull":                      `"overlaybd"`,
	"$.runtime.sandboxes":                     `["kata"]`,
	"$.cloud.instanceType":                    `"Standard_ND96asr_v4"`,
	"$.system.gpu.vendor":                     `"nvidia"`,
	"$.system.gpu.instanceProfile":            `"MIG1g"`,
	"$.system.gpu.strategy":                   `"Mixed"`,
	"$.system.gpu.profileLayout":              `["1g.10gb"]`,
	"$.system.gpu.dynamicResourceAllocation":  `false`,
	"$.gpu_config.gpu_instance_profile":       `"MIG1g"`,
	"$.gpu_config.mig_strategy":               `"Mixed"`,
	"$.gpu_config.mig_profile_layout":         `["1g.10gb"]`,
	"$.gpu_config.enable_managed_gpu_dra":     `false`,
	"$.runtime.registries":                    `{"docker.io":{"mirrors":[{"url":"https://mirror.example","capabilities":["pull"],"skipVerify":true,"overridePath":true,"username":"a","password":"b"}],"server":{"url":"https://docker.example"}}}`,
	"$.runtime.containerd.config":             `"oom_score = -500"`,
	"$.runtime.containerd.baseRuntimeSpec":    `{"process":{"rlimits":[{"type":"RLIMIT_NOFILE","soft":1024,"hard":4096}],"noNewPrivileges":false,"env":["A=b"]},"linux":{"maskedPaths":["/proc/kcore"]}}`,
	"$.runtime.containerd.dataDir":            `"/mnt/containerd"`,
	"$.runtime.containerd.metricsAddress":     `"127.0.0.1:1338"`,
	"$.runtime.containerd.limits":             `{"NOFILE":"1000"}`,
	"$.network.plugin":                        `"azure"`,
	"$.network.policy":                        `"calico"`,
	"$.network.ipFamilies[0]":                 `"IPv6"`,
	"$.network.nameservers[0]":                `"10.0.0.2"`,
	"$.network.metadataRestriction.table":     `"mangle"`,
	"$.system.sysctls":                        `{"vm.max_map_count":"262144"}`,
	"$.system.modules[0]":                     `"ip_vs"`,
	"$.trust.certificates[0]":                 "CA",
	"$.proxy.http":                            `"http://proxy.example:1"`,
	"$.proxy.https":                           `"http://proxy.example:2"`,
	"$.proxy.certificateAuthority":            "CERTIFICATE", // another CA than the one that is trusted anyway
	"$.cloud.provider":                        `"azure"`,
	"$.cloud.azure.environment":               `"AzureStackCloud"`,
	"$.cloud.azure.vmType":                    `"standard"`,
	"$.cloud.azure.loadBalancer.sku":          `"basic"`,
	"$.cloud.azure.backoff.mode":              `"default"`,
	"$.cloud.azure.custom.endpoints":          `"{}"`,
	"$.cloud.azure.custom.repositoryEndpoint": `"https://packages.example"`,
	"$.components.layout":                     `"standard"`,
	"$.components.os":                         `{"id":"ubuntu","versionID":"24.04"}`,
	"$.components.scriptVariables":            `{"RUNC_VERSION":"1.3.0"}`,
	"$.components.artifacts":                  `{"containerd":{"version":"2.2.4","url":"https://x.example/c","sha256":"00"}}`,
	"$.components.manifest.sha256":            `"e0666c97f7cd58e38e74cb0abf393dafbba229b254fafe0bc0ba93a3089394c8"`,
	"$.components.manifest.signers[0]":        `"images@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKE1jIIqr/yNt3Zqeey2CTC8fhtKEWtpaDk32gL9ugFi"`,
	"$.checks.timeout":                        `"10m"`,
	"$.kubelet.capacity":                      `{"rule":"EKS","instanceTypes":["m5.large"]}`,
	"$.kubelet.machineLabels":                 `{"zone":"Zone"}`,
	"$.files": `[{"path":"/etc/app.conf","mode":"0755","content":"a","restarts":["app.service"],"reloads":["web.service"]},` +
		`{"path":"/opt/app/data","base64":"AAE="},{"path":"/etc/app.secret","secret":"s"}]`,
	"$.units": `[{"name":"app.service","content":"[Service]\nExecStart=/bin/true\n","dropIns":[{"name":"10-app.conf","content":"[Service]\nNice=1\n"}],` +
		`"enabled":true,"state":"None"},{"name":"old.service","state":"Masked"}]`,

	"$.pre_provision_only":                          "false", // otherwise the node does not join, and no setting of the join has an effect
	"$.local_dns_profile.vnet_dns_overrides":        `{"a.example":{"serve_stale":"Verify","serve_stale_duration_in_seconds":5,"forward_destination":"ClusterCoreDNS","cache_duration_in_seconds":60,"max_concurrent":5,"query_logging":"Log","protocol":"ForceTCP","forward_policy":"Random","failfast_all_unhealthy_upstreams":true,"health_check":{"duration":"90s","no_rec":true,"domain":"a.example"}}}`,
	"$.local_dns_profile.kube_dns_overrides":        `{"a.example":{"serve_stale":"Verify","serve_stale_duration_in_seconds":5,"forward_destination":"ClusterCoreDNS","cache_duration_in_seconds":60,"max_concurrent":5,"query_logging":"Log","protocol":"ForceTCP","forward_policy":"Random","failfast_all_unhealthy_upstreams":true,"health_check":{"duration":"90s","no_rec":true,"domain":"a.example"}}}`,
	"$.local_dns_profile.critical_fqdns":            `["a.example"]`,
	"$.custom_cloud_config.custom_cloud_env_name":   `"AKSCustom"`,
	"$.custom_cloud_config.repo_depot_endpoint":     `"https://packages.example"`,
	"$.custom_cloud_config.custom_env_json_content": `"{}"`,
	"$.version":                                                                                `"v1"`,
	"$.kubernetes_version":                                                                     `"1.34.2"`,
	"$.kubelet_config.kubelet_disk_type":                                                       `"KUBELET_DISK_TEMP_DISK"`,
	"$.kubernetes_ca_cert":                                                                     "CA",
	"$.auth_config.service_principal_secret":                                                   `"c2VjcmV0"`,
	"$.bootstrapping_config.tls_bootstrapping_token":                                           `"abcdef.0123456789abcdef"`,
	"$.kubelet_config.container_data_dir":                                                      `"/mnt/containerd"`,
	"$.kubelet_config.kubelet_client_key":                                                      "KEY",
	"$.kubelet_config.kubelet_client_cert_content":                                             "CERTIFICATE",
	"$.kubelet_config.kubelet_config_file_config.api_version":                                  `"kubelet.config.k8s.io/v1beta1"`,
	"$.kubelet_config.kubelet_config_file_config.kind":                                         `"KubeletConfiguration"`,
	"$.kubelet_config.kubelet_config_file_config.authentication.webhook.cache_ttl":             `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.authorization.webhook.cache_authorized_ttl":   `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.authorization.webhook.cache_unauthorized_ttl": `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.cpu_cfs_quota_period":                         `"50ms"`,
	"$.kubelet_config.kubelet_config_file_config.address":                                      `"0.0.0.0"`,
	"$.kubelet_config.kubelet_config_file_config.authorization.mode":                           `"Webhook"`,
	"$.kubelet_config.kubelet_config_file_config.enforce_node_allocatable":                     `["pods"]`,
	"$.kubelet_config.kubelet_config_file_config.eviction_hard":                                `{"memory.available":"100Mi"}`,
	"$.kubelet_config.kubelet_config_file_config.eviction_soft":                                `{"memory.available":"200Mi"}`,
	"$.kubelet_config.kubelet_config_file_config.eviction_soft_grace_period":                   `{"memory.available":"90s"}`,
	"$.kubelet_config.kubelet_config_file_config.kube_reserved":                                `{"cpu":"100m"}`,
	"$.kubelet_config.kubelet_config_file_config.system_reserved":                              `{"memory":"100Mi"}`,
	"$.kubelet_config.kubelet_config_file_config.tls_cipher_suites":                            `["TLS_AES_128_GCM_SHA256"]`,
	"$.kubelet_config.kubelet_config_file_config.allowed_unsafe_sysctls":                       `["net.core.somaxconn"]`,
	"$.kubelet_config.kubelet_config_file_config.container_log_max_size":                       `"20Mi"`,
	"$.kubelet_config.kubelet_config_file_config.cpu_manager_policy":                           `"static"`,
	"$.kubelet_config.kubelet_config_file_config.topology_manager_policy":                      `"best-effort"`,
	"$.kubelet_config.kubelet_config_file_config.image_gc_high_threshold_percent":              `90`,
	"$.kubelet_config.kubelet_config_file_config.image_gc_low_threshold_percent":               `70`,
	"$.kubelet_config.kubelet_config_file_config.node_status_report_frequency":                 `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.node_status_update_frequency":                 `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.streaming_connection_idle_timeout":            `"90s"`,
	"$.kubelet_config.kubelet_config_file_config.fail_swap_on":                                 `false`,
	"$.kubelet_config.kubelet_config_file_config.feature_gates":                                `{"NodeSwap":true,"CustomCPUCFSQuotaPeriod":true}`,
	"$.kubelet_config.kubelet_config_file_config.kube_reserved_cgroup":                         `"/kubereserved.slice"`,
	"$.kubelet_config.kubelet_config_file_config.system_reserved_cgroup":                       `"/system.slice"`,
	"$.kubelet_config.kubelet_flags":                                                           `{"--v":"3","--node-ip":"10.0.0.4","--register-with-taints":"a=b:NoSchedule","--node-labels":"x=y","--image-credential-provider-bin-dir":"/opt/bin","--image-credential-provider-config":"/etc/kubernetes/credentials.yaml"}`,
}

// full makes a document with every field of a contract set.
type full struct {
	t        testing.TB
	leaves   int
	examples map[string]*document.Node
}

// value returns the table's value for a path, or one of the field's type.
func (f *full) value(at, byType string) *document.Node {
	text, ok := good[at]
	if !ok {
		text = byType
	}
	f.leaves++
	if known, ok := f.examples[text]; ok {
		return known
	}
	n, err := document.Parse([]byte(`{"x":` + text + `}`))
	if err != nil {
		f.t.Fatalf("%s: %v", at, err)
	}
	value, _ := n.Get("x")
	return value
}

// native is a value of a type of the native contract.
func (f *full) native(t reflect.Type, at string) *document.Node {
	if _, ok := good[at]; ok {
		return f.value(at, "")
	}
	switch t {
	case reflect.TypeFor[nodeconfig.Secret]():
		return f.value(at, `"text"`)
	case reflect.TypeFor[nodeconfig.Duration]():
		return f.value(at, `"90s"`)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return f.native(t.Elem(), at)
	case reflect.Slice:
		return &document.Node{Kind: document.List, Items: []document.Node{*f.native(t.Elem(), document.IndexPath(at, 0))}}
	case reflect.Map:
		return &document.Node{Kind: document.Map, Fields: []document.Field{{Name: "a", Value: *f.native(t.Elem(), document.FieldPath(at, "a"))}}}
	case reflect.Struct:
		n := &document.Node{Kind: document.Map}
		for i := range t.NumField() {
			name := document.JSONNames(t.Field(i))[0]
			n.Fields = append(n.Fields, document.Field{Name: name, Value: *f.native(t.Field(i).Type, document.FieldPath(at, name))})
		}
		return n
	}
	return f.value(at, map[reflect.Kind]string{
		reflect.Bool: "true", reflect.String: `"text"`, reflect.Interface: `"text"`, reflect.Int32: "3", reflect.Int64: "3", reflect.Float64: "1.5",
	}[t.Kind()])
}

// aks is a message of AKS's contract.
func (f *full) aks(m protoreflect.MessageDescriptor, at string) *document.Node {
	n := &document.Node{Kind: document.Map}
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		here := document.FieldPath(at, string(field.Name()))
		var value *document.Node
		switch _, ok := good[here]; {
		case ok:
			value = f.value(here, "")
		case field.IsMap():
			value = &document.Node{Kind: document.Map, Fields: []document.Field{{Name: "a", Value: *f.aksValue(field.MapValue(), document.FieldPath(here, "a"))}}}
		case field.IsList():
			value = &document.Node{Kind: document.List, Items: []document.Node{*f.aksValue(field, document.IndexPath(here, 0))}}
		default:
			value = f.aksValue(field, here)
		}
		n.Fields = append(n.Fields, document.Field{Name: string(field.Name()), Value: *value})
	}
	return n
}

func (f *full) aksValue(field protoreflect.FieldDescriptor, at string) *document.Node {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return f.aks(field.Message(), at)
	case protoreflect.EnumKind:
		return f.value(at, `"`+string(field.Enum().Values().Get(1).Name())+`"`)
	case protoreflect.BoolKind:
		return f.value(at, "true")
	case protoreflect.StringKind:
		return f.value(at, `"text"`)
	}
	return f.value(at, "3")
}

// fullDocuments are a document of each dialect with every field set.
func fullDocuments(t *testing.T) map[string]*document.Node {
	t.Helper()
	examples := make(map[string]*document.Node)
	for name, path := range map[string]string{"CA": "kubernetes_ca_cert", "KEY": "kubelet_client_key", "CERTIFICATE": "kubelet_client_cert_content"} {
		contracts.Walk(contracts.Parse(t, "../../examples/aks/client-certificate.json"), func(at string, n *document.Node) {
			if strings.HasSuffix(at, path) {
				examples[name] = n
			}
		})
	}
	f := &full{t: t, examples: examples}
	native := f.native(reflect.TypeFor[nodeconfig.NodeConfig](), "$")
	if f.leaves < 150 {
		t.Errorf("only %d fields in a native contract", f.leaves)
	}
	f = &full{t: t, examples: examples}
	contract := f.aks(new(aksnodeconfigv1.Configuration).ProtoReflect().Descriptor(), "$")
	if f.leaves < 200 {
		t.Errorf("only %d fields in an AKS contract", f.leaves)
	}
	made := map[string]*document.Node{"native": native, "aks": contract}
	for path := range good {
		found := false
		for _, n := range made {
			contracts.Walk(n, func(at string, _ *document.Node) { found = found || at == path || strings.HasPrefix(at, path) })
		}
		if !found {
			t.Errorf("%s is no field", path)
		}
	}
	return made
}
