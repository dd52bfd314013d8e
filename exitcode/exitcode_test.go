package exitcode

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTableIsSortedAndComplete(t *testing.T) {
	codes := All()
	if len(codes) != 142 {
		t.Errorf("the table has %d codes, want 141", len(codes))
	}
	names := map[string]int{}
	for i, c := range codes {
		if i > 0 && codes[i-1].Number >= c.Number {
			t.Errorf("%d follows %d", c.Number, codes[i-1].Number)
		}
		if c.Number < 0 || c.Number > 255 {
			t.Errorf("%d is no exit code", c.Number)
		}
		if other, taken := names[c.Name]; taken {
			t.Errorf("%d and %d are both %s", other, c.Number, c.Name)
		}
		names[c.Name] = c.Number
		if c.Source != Slipway && c.Source != AKS {
			t.Errorf("%d has the source %q", c.Number, c.Source)
		}
	}
}

var name = regexp.MustCompile(`^(SUCCESS|ERR(_[A-Z0-9]+)+)$`)

func TestTextsKeepOneStyle(t *testing.T) {
	for _, c := range All() {
		if !name.MatchString(c.Name) {
			t.Errorf("%d: name %q", c.Number, c.Name)
		}
		for field, text := range map[string]string{"meaning": c.Meaning, "action": c.Action} {
			if first, _ := utf8.DecodeRuneInString(text); !unicode.IsLower(first) {
				t.Errorf("%d: %s does not start in lower case: %q", c.Number, field, text)
			}
			last, _ := utf8.DecodeLastRuneInString(text)
			if unicode.IsSpace(last) || (unicode.IsPunct(last) && last != ')') {
				t.Errorf("%d: %s ends with %q", c.Number, field, last)
			}
			if strings.ContainsAny(text, "\n\t") || strings.Contains(text, ". ") || strings.Contains(text, "  ") {
				t.Errorf("%d: %s is not one plain line: %q", c.Number, field, text)
			}
			if n := utf8.RuneCountInString(text); n < 8 || n > 140 {
				t.Errorf("%d: %s has %d characters", c.Number, field, n)
			}
		}
		if c.Meaning == c.Action {
			t.Errorf("%d: meaning and action are the same", c.Number)
		}
	}
}

// constants are those of the package, with the rows of the table that they are.
var constants = []struct {
	number, want int
	name         string
}{
	{Success, 0, "SUCCESS"},
	{Invalid, 1, "ERR_INVALID"},
	{UnitStartFailed, 4, "ERR_SYSTEMCTL_START_FAIL"},
	{KubeletStartFailed, 34, "ERR_KUBELET_START_FAIL"},
	{ModuleLoadFailed, 49, "ERR_MODPROBE_FAIL"},
	{OutboundFailed, 50, "ERR_OUTBOUND_CONN_FAIL"},
	{APIServerUnreachable, 51, "ERR_K8S_API_SERVER_CONN_FAIL"},
	{APIServerNameUnresolved, 52, "ERR_K8S_API_SERVER_DNS_LOOKUP_FAIL"},
	{APIServerNameUnknown, 53, "ERR_K8S_API_SERVER_AZURE_DNS_LOOKUP_FAIL"},
	{Usage, 64, "ERR_USAGE"},
	{CNIPluginMissing, 41, "ERR_CNI_DOWNLOAD_TIMEOUT"},
	{ImageNotBuilt, 65, "ERR_VHD_FILE_NOT_FOUND"},
	{Interrupted, 75, "ERR_INTERRUPTED"},
	{SysctlFailed, 103, "ERR_SYSCTL_RELOAD"},
	{KubeletInstallFailed, 121, "ERR_KUBELET_INSTALL_FAIL"},
	{Timeout, 124, "ERR_TIMEOUT"},
	{SwapFailed, 130, "ERR_SWAP_CREATE_FAIL"},
	{NodeExporterFailed, 128, "ERR_NODE_EXPORTER_START_FAIL"},
	{SwapNoRoom, 131, "ERR_SWAP_CREATE_INSUFFICIENT_DISK_SPACE"},
	{TrustFailed, 161, "ERR_UPDATE_CA_CERTS"},
	{AttestedClientMissing, 169, "ERR_SECURE_TLS_BOOTSTRAP_CLIENT_DOWNLOAD_ERROR"},
	{RealmFailed, 80, "ERR_CUSTOM_SEARCH_DOMAINS_FAIL"},
	{SSHDisableFailed, 172, "ERR_DISABLE_SSH"},
	{NodeAddressMissing, 173, "ERR_PRIMARY_NIC_IP_NOT_FOUND"},
	{MangleRuleFailed, 174, "ERR_INSERT_IMDS_RESTRICTION_RULE_INTO_MANGLE_TABLE"},
	{FilterRuleFailed, 175, "ERR_INSERT_IMDS_RESTRICTION_RULE_INTO_FILTER_TABLE"},
	{SSHKeysFailed, 178, "ERR_CONFIG_PUBKEY_AUTH_SSH"},
	{UpdateTimerFailed, 202, "ERR_SNAPSHOT_UPDATE_START_FAIL"},
	{KubernetesDownloadFailed, 31, "ERR_K8S_DOWNLOAD_TIMEOUT"},
	{ContainerdInstallFailed, 28, "ERR_CONTAINERD_INSTALL_TIMEOUT"},
	{RuncInstallFailed, 29, "ERR_RUNC_INSTALL_TIMEOUT"},
	{ContainerdVersionInvalid, 39, "ERR_CONTAINERD_VERSION_INVALID"},
	{ContainerdDownloadFailed, 70, "ERR_CONTAINERD_DOWNLOAD_TIMEOUT"},
	{RuncDownloadFailed, 71, "ERR_RUNC_DOWNLOAD_TIMEOUT"},
	{KubectlInstallFailed, 122, "ERR_KUBECTL_INSTALL_FAIL"},
	{PrivatePackageFailed, 203, "ERR_PRIVATE_K8S_PKG_ERR"},
	{KubernetesInstallFailed, 204, "ERR_K8S_INSTALL_ERR"},
	{ProviderDownloadFailed, 205, "ERR_CREDENTIAL_PROVIDER_DOWNLOAD_TIMEOUT"},
	{RegistryKubernetesFailed, 207, "ERR_ORAS_PULL_K8S_FAIL"},
	{RegistryProviderFailed, 208, "ERR_ORAS_PULL_CREDENTIAL_PROVIDER"},
	{RegistryIdentityMissing, 210, "ERR_ORAS_IMDS_TIMEOUT"},
	{RegistryUnreachable, 211, "ERR_ORAS_PULL_NETWORK_TIMEOUT"},
	{RegistryRefused, 212, "ERR_ORAS_PULL_UNAUTHORIZED"},
	{LocalDNSFailed, 216, "ERR_LOCALDNS_FAIL"},
	{LocalDNSCorefileMissing, 217, "ERR_LOCALDNS_COREFILE_NOTFOUND"},
	{LocalDNSSliceMissing, 218, "ERR_LOCALDNS_SLICEFILE_NOTFOUND"},
	{LocalDNSBinaryMissing, 219, "ERR_LOCALDNS_BINARY_ERR"},
	{GPUDriverFailed, 84, "ERR_GPU_DRIVERS_START_FAIL"},
	{GPUDriverMissing, 85, "ERR_GPU_DRIVERS_INSTALL_TIMEOUT"},
	{GPUDevicePluginFailed, 86, "ERR_GPU_DEVICE_PLUGIN_START_FAIL"},
	{GPUInfoROMCorrupted, 87, "ERR_GPU_INFO_ROM_CORRUPTED"},
	{TranscoderMissing, 95, "ERR_AMDAMA_DRIVER_NOT_FOUND"},
	{ManagedGPUFailed, 123, "ERR_ENABLE_MANAGED_GPU_EXPERIENCE"},
	{DRADriverFailed, 129, "ERR_DRA_DRIVER_START_FAIL"},
	{StreamingFailed, 153, "ERR_ARTIFACT_STREAMING_INSTALL"},
	{DCGMMissing, 235, "ERR_NVIDIA_DCGM_INSTALL"},
	{AttestedBootstrapFailed, 220, "ERR_SECURE_TLS_BOOTSTRAP_ENABLE_FAILURE"},
	{CertificateRefused, 221, "ERR_CERTIFICATE_REFUSED"},
	{ContractOlder, 222, "ERR_CONTRACT_OLDER"},
	{SandboxImageFailed, 233, "ERR_PULL_POD_INFRA_CONTAINER_IMAGE"},
	{ContractNotFound, 236, "ERR_CONTRACT_NOT_FOUND"},
	{ContractInvalid, 237, "ERR_CONTRACT_INVALID"},
	{ScriptFailed, 238, "ERR_SCRIPT_FAILED"},
	{AgentFailed, 239, "ERR_AGENT_INTERNAL"},
	{AKSNodeController, 240, "ERR_AKS_NODE_CONTROLLER_ERROR"},
	{SecondaryInterfaceFailed, 243, "ERR_SECONDARY_NIC_CONFIG_FAIL"},
	{NodeNameTaken, 254, "ERR_NODE_NAME_TAKEN"},
}

// The numbers are a public interface: this list may only grow.
func TestConstantsAreWhatSlipwayReturns(t *testing.T) {
	var ours []int
	for _, c := range constants {
		ours = append(ours, c.number)
		if c.number != c.want {
			t.Errorf("the constant of %s is %d, want %d", c.name, c.number, c.want)
		}
		if code, ok := Lookup(c.want); !ok || code.Name != c.name || code.Source != Slipway {
			t.Errorf("Lookup(%d) = %+v, %t", c.want, code, ok)
		}
	}
	for _, c := range All() {
		if c.Source == Slipway && !slices.Contains(ours, c.Number) {
			t.Errorf("%d is said to be Slipway's and has no constant", c.Number)
		}
	}
}

// AKS's consumers see its number in the place of those that it has not, and every other as it is.
func TestForAKS(t *testing.T) {
	for _, c := range All() {
		want := c.Number
		if c.Number >= 236 && c.Number <= 239 {
			want = 240
		}
		if got := ForAKS(c.Number); got != want {
			t.Errorf("%d is %d to AKS, want %d", c.Number, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range All() {
		if got, ok := Lookup(c.Number); !ok || got != c {
			t.Errorf("Lookup(%d) = %+v, %t", c.Number, got, ok)
		}
	}
	for _, n := range []int{-1, 11, 40, 126, 209, 256, 1 << 40} {
		if got, ok := Lookup(n); ok || got != (Code{}) {
			t.Errorf("Lookup(%d) = %+v, %t", n, got, ok)
		}
	}
}

func TestAllIsACopy(t *testing.T) {
	All()[0].Name = "changed"
	if c, _ := Lookup(0); c.Name != "SUCCESS" {
		t.Error("a caller could change the table")
	}
}
