package status

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with the file testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}

var start = time.Date(2024, 11, 12, 17, 24, 6, 123456789, time.FixedZone("CET", 3600))

// success is a successful first provisioning.
func success() *Status {
	return &Status{
		Outcome:      OutcomeSuccess,
		CodeName:     "SUCCESS",
		AgentVersion: "0.1.0",
		Config: Config{
			Path:              "/opt/azure/containers/aks-node-controller-config.json",
			Dialect:           "aks",
			Digest:            "sha256:5f1d0c2b9a8e7f6d5c4b3a29181706f5e4d3c2b1a09f8e7d6c5b4a3928170605",
			KubernetesVersion: "1.33.2",
		},
		StartedAt:  start,
		FinishedAt: start.Add(12345 * time.Millisecond),
		DurationMs: 12345,
		Problems: []nodeconfig.Problem{
			{Path: "$.kubelet_config.foo", Reason: "unknown field"},
			{Path: "$.custom_linux_os_config.sysctl_config.net_core_somaxconn", Reason: "is not an integer; the image's own value stays, which may be less than the pool's other nodes have"},
		},
		CriticalPath: []string{"gather facts", "find contract", "Unit:kubelet.service", "Check:kubelet-active"},
		Changes: []Change{
			{"File:/etc/kubernetes/azure.json", ActionCreated},
			{"File:/etc/default/kubelet", ActionCreated},
			{"File:/etc/containerd/config.toml", ActionUpdated},
			{"File:/etc/kubernetes/certs/ca.crt", ActionCorrected},
			{"Sysctl:net.core.somaxconn", ActionSet},
			{"containerd.service", ActionRestarted},
			{"kubelet.service", ActionStarted},
		},
		Unchanged: 31,
		Steps: []Step{
			{Name: "decode", DurationMs: 3, Detail: "aks"},
			{Name: "facts", StartMs: 3, DurationMs: 45, Detail: "metadata service after 2 tries"},
			{Name: "plan", StartMs: 48, DurationMs: 2, Detail: "38 resources"},
			{Name: "apply", StartMs: 50, DurationMs: 1200},
			{Name: "check api-server", StartMs: 1250, DurationMs: 8100, Detail: "https://slipway-abcdef.hcp.westeurope.azmk8s.io:443"},
			{Name: "start kubelet.service", StartMs: 9350, DurationMs: 2995},
		},
	}
}

// failure is a provisioning that found no API server.
func failure() *Status {
	s := success()
	first := Failure{
		Resource: "Check:api-server",
		Cause:    "connection",
		Endpoint: "https://slipway-abcdef.hcp.westeurope.azmk8s.io:443 (20.0.0.1)",
		Message:  "dial tcp 20.0.0.1:443: i/o timeout",
		Action:   "open the path from the subnet to the API server's port 443, and check its CA if the error is about TLS",
	}
	s.Outcome, s.ExitCode, s.CodeName = OutcomeFailure, 51, "ERR_K8S_API_SERVER_CONN_FAIL"
	s.Error = &first
	s.Errors = []Failure{first, {
		Resource: "Unit:containerd.service",
		Cause:    "unit",
		Endpoint: "containerd.service",
		Message:  "the unit is \"failed\" <exit-code>\nthe last line of its journal: \x1b[31mno such file\x1b[0m",
	}}
	s.Problems = append(s.Problems, nodeconfig.Problem{Path: "$.cluster.server", Reason: "is not a URL", Fatal: true})
	s.Skipped = []string{"Unit:kubelet.service", "Check:kubelet"}
	return s
}
