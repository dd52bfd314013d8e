package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"

	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const (
	// examples are package launch's.
	examples = "../../../../examples/launch"
	// goldens are those of package detect: the program writes the same documents.
	goldens = "../../detect/testdata"
	// secret is in every credential of the tests, and must be in no output.
	secret = "canary-of-a-credential"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// authority is the CA of the examples.
func authority(t testing.TB) string {
	t.Helper()
	d, problems := azure.ReadDetected(read(t, filepath.Join(examples, "detected.yaml")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d.CertificateAuthority.Value
}

// kubeconfig is a kubeconfig for a server, with a token that must be in no output.
func kubeconfig(server, authority string) []byte {
	return fakeazure.Kubeconfig(server, authority, secret)
}

// cloud is the example's.
func cloud(t testing.TB) *fakeazure.Cloud {
	t.Helper()
	return fakeazure.Example(kubeconfig("https://api.example.com:443", authority(t)))
}

// result is the output of a run.
type result struct {
	code     int
	out, err string
}

// start runs the program in a cloud.
func start(t testing.TB, c *fakeazure.Cloud, args ...string) result {
	t.Helper()
	var out, messages bytes.Buffer
	w := world{
		environment: func(name string) string {
			return map[string]string{"AZURE_SUBSCRIPTION_ID": fakeazure.Subscription}[name]
		},
		credential: new(azfake.TokenCredential), transport: c, now: fakeazure.Noon,
	}
	code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, w)
	r := result{code, out.String(), messages.String()}
	if strings.Contains(r.out+r.err, secret) {
		t.Errorf("%q shows a credential", args)
	}
	return r
}

// want checks a run's exit code and messages.
func (r result) want(t testing.TB, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d: %s", r.code, code, r.err)
	}
	for _, word := range words {
		if !strings.Contains(r.err, word) {
			t.Errorf("%s\ndoes not say %q", r.err, word)
		}
	}
}

var cluster = []string{"cluster", "--resource-group", "example-rg", "--name", "example"}

// A file is written completely, readable for all users; - is standard output.
func TestCluster(t *testing.T) {
	want := string(read(t, filepath.Join(goldens, "cluster.json")))
	r := start(t, cloud(t), append(cluster, "--out", "-")...)
	r.want(t, exitcode.Success)
	if r.out != want || r.err != "" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "detected.json")
	for range 2 { // the second replaces the first
		r = start(t, cloud(t), append(cluster, "--out", file)...)
		r.want(t, exitcode.Success)
		if got := string(read(t, file)); got != want || r.out != "" || r.err != "" {
			t.Errorf("%s\n%s%s", got, r.out, r.err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("there is more than the file: %v, %v", names, err)
	}
}

// After an error no file is written, unless --partial is given. An empty document replaces no file in either case.
func TestPartial(t *testing.T) {
	file := filepath.Join(t.TempDir(), "detected.json")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	poor := func() *fakeazure.Cloud {
		c := cloud(t)
		c.SecurityGroups = [][]string{{"aks-agentpool-11111111-nsg", "aks-agentpool-22222222-nsg"}}
		c.Cluster.Properties.NetworkProfile.DNSServiceIP = nil
		return c
	}
	args := append(cluster, "--out", file)
	start(t, poor(), args...).want(t, exitcode.Invalid,
		"error: dnsServiceIP: ", "error: securityGroups: ", "aks-agentpool-11111111-nsg, aks-agentpool-22222222-nsg", "nothing is written: 2 errors", "--partial")
	if got := string(read(t, file)); got != "before" {
		t.Errorf("the file is %q", got)
	}
	nothing := cloud(t)
	nothing.Cluster = nil
	start(t, nothing, append(args, "--partial")...).want(t, exitcode.Invalid, "404", "nothing is written: 1 error")
	if got := string(read(t, file)); got != "before" {
		t.Errorf("the file is %q", got)
	}
	start(t, poor(), append(args, "--partial")...).want(t, exitcode.Success, "warning: dnsServiceIP: ", "warning: securityGroups: ")
	d, problems := azure.ReadDetected(read(t, file))
	if len(problems) > 0 || d.DNSServiceIP != nil || len(d.SecurityGroups.Values) != 2 {
		t.Errorf("%+v, %v", d, problems)
	}
}

// server is an API server.
func server(t testing.TB, version string) (url, authority string) {
	t.Helper()
	answers := map[string]string{
		"/version": `{"gitVersion": "` + version + `"}`,
		"/api/v1/namespaces/kube-system/services/kube-dns": `{"spec": {"clusterIP": "10.0.0.10"}}`,
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		switch {
		case r.Header.Get("Authorization") != "Bearer "+secret:
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// A kubeconfig is enough for some facts, and then the program does not ask Azure. With both, the server's own answers win.
func TestKubeconfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	use := func(version string) string {
		url, ca := server(t, version)
		if err := os.WriteFile(file, kubeconfig(url, ca), 0o600); err != nil {
			t.Fatal(err)
		}
		return ca
	}
	use("v1.34.2")
	c := cloud(t)
	r := start(t, c, "cluster", "--kubeconfig", file)
	r.want(t, exitcode.Success)
	d, problems := azure.ReadDetected([]byte(r.out))
	if len(problems) > 0 || d.KubernetesVersion.Value != "v1.34.2" || d.DNSServiceIP == nil || d.SubnetID != nil || len(c.Asked()) != 0 {
		t.Errorf("%s, %v, %q", r.out, problems, c.Asked())
	}

	ca := use("v1.34.2")
	c.Kubeconfig = kubeconfig("https://api.example.com:443", ca)
	r = start(t, c, append(cluster, "--kubeconfig", file, "--context", "example")...)
	r.want(t, exitcode.Success)
	d, problems = azure.ReadDetected([]byte(r.out))
	if len(problems) > 0 || d.KubernetesVersion.Source != "GET /version of the API server" || d.SubnetID == nil {
		t.Errorf("%s, %v", r.out, problems)
	}

	use("v1.30.0")
	start(t, cloud(t), append(cluster, "--kubeconfig", file)...).want(t, exitcode.Invalid,
		"error: kubernetesVersion: GET /version of the API server and managed cluster example of the resource group example-rg do not say the same",
		"error: certificateAuthority: ")
	start(t, cloud(t), "cluster", "--kubeconfig", file, "--context", "none").want(t, exitcode.Invalid, `has no context "none"`)
	start(t, cloud(t), "cluster", "--kubeconfig", filepath.Join(filepath.Dir(file), "none")).want(t, exitcode.Invalid, "kubeconfig ", "no such file")
}

// With --settings, the document is a ConfigMap that a launch accepts. With a kubeconfig, it contains the server's own answers.
func TestSettings(t *testing.T) {
	r := start(t, cloud(t), append(cluster, "--settings")...)
	r.want(t, exitcode.Success)
	if want := string(read(t, filepath.Join(goldens, "settings.json"))); r.out != want || r.err != "" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
	c := cloud(t)
	c.Cluster.Properties.LinuxProfile = nil
	start(t, c, append(cluster, "--settings")...).want(t, exitcode.Invalid, "error: ssh-public-key: ", "nothing is written: 1 error", "--partial")
	r = start(t, c, append(cluster, "--settings", "--partial")...)
	r.want(t, exitcode.Success, "warning: ssh-public-key: ")
	if !strings.Contains(r.out, `"kind": "ConfigMap"`) || strings.Contains(r.out, "ssh-public-key") {
		t.Error(r.out)
	}
	c.Cluster = nil
	start(t, c, append(cluster, "--settings", "--partial")...).want(t, exitcode.Invalid, "404", "nothing is written: 1 error")
}

// A list keeps the fields that people have written into it, and replaces no other file.
func TestImages(t *testing.T) {
	args := []string{"images", "--location", "eastus"}
	want := string(read(t, filepath.Join(goldens, "images-aks.json")))
	r := start(t, cloud(t), args...)
	r.want(t, exitcode.Success)
	if r.out != want {
		t.Errorf("%s", r.out)
	}
	file := filepath.Join(t.TempDir(), "images.json")
	const pinned = `{"apiVersion": "slipway.dev/v1", "kind": "ImageList", "images": [], "time": "2026-01-01T00:00:00Z",
		"pin": {"version": "202609.10.0"}, "inUse": ["/CommunityGalleries/g/images/V3gen2/versions/1.0.0"],
		"maintenance": {"start": "2026-12-01T00:00:00Z", "end": "2026-12-02T00:00:00Z"}}`
	if err := os.WriteFile(file, []byte(pinned), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, cloud(t), append(args, "--out", file)...).want(t, exitcode.Success)
	list, problems := azure.ReadImages(read(t, file))
	if len(problems) > 0 || list.Pin.Version != "202609.10.0" || len(list.InUse) != 1 || list.Maintenance == nil || len(list.Images) != 7 || list.Time != "2026-11-25T12:00:00Z" {
		t.Errorf("%+v, %v", list, problems)
	}
	own := strings.Replace(pinned, `"images": []`, `"images": [], "definitions": [{"name": "1804gen2containerd", "architecture": "amd64", "generation": "2"}]`, 1)
	if err := os.WriteFile(file, []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, cloud(t), append(args, "--out", file)...).want(t, exitcode.Success)
	list, problems = azure.ReadImages(read(t, file))
	if len(problems) > 0 || len(list.Definitions) != 1 || len(list.Images) != 8 || !slices.ContainsFunc(list.Images, func(v azure.ImageVersion) bool { return strings.Contains(v.ID, "/1804gen2containerd/") }) {
		t.Errorf("%+v, %v", list, problems)
	}
	if err := os.WriteFile(file, []byte("a letter"), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, cloud(t), append(args, "--out", file)...).want(t, exitcode.Invalid, "is not a list of images")
	if got := string(read(t, file)); got != "a letter" {
		t.Errorf("the file is %q", got)
	}
	start(t, cloud(t), "images", "--location", "westus").want(t, exitcode.Invalid, "the region westus has no image", "nothing is written: 2 errors")
	r = start(t, cloud(t), append(args, "--gallery", "/CommunityGalleries/"+fakeazure.Linux, "--gallery", "/SharedGalleries/none", "--partial")...)
	r.want(t, exitcode.Success, "warning: gallery /SharedGalleries/none: the region eastus has no image")
	if list, problems := azure.ReadImages([]byte(r.out)); len(problems) > 0 || len(list.Images) != 2 {
		t.Errorf("%s, %v", r.out, problems)
	}
}

// A launch accepts the program's output, and needs nothing else from Azure.
func TestLaunchTakesThem(t *testing.T) {
	var in azure.Input
	var problems, found []nodeconfig.Problem
	in.Settings, found = azure.Reload(nil, azure.SettingsSource{Name: "settings.yaml", Document: read(t, filepath.Join(examples, "settings.yaml"))})
	problems = append(problems, found...)
	in.Detected, found = azure.ReadDetected([]byte(start(t, cloud(t), cluster...).out))
	problems = append(problems, found...)
	in.Images, found = azure.ReadImages([]byte(start(t, cloud(t), "images", "--location", "eastus").out))
	problems = append(problems, found...)
	pool := new(launch.NodePool)
	problems = append(problems, launch.Read(read(t, filepath.Join(examples, "nodepool.yaml")), launch.KarpenterVersion, "NodePool", pool)...)
	var err error
	if in.Type, err = azure.KnownInstanceType("Standard_D4ds_v5"); err != nil {
		t.Fatal(err)
	}
	template := launch.Render(&in, launch.Request{Pool: pool})
	found = template.Problems()
	if fatal := nodeconfig.Fatal(append(problems, found...)); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	if image := template.Document().Machine.Image; image.Version != "202611.05.0" || image.Definition != "2404gen2containerd" {
		t.Errorf("%+v", image)
	}
	for _, path := range []string{"$.machine.network.clusterID", "$.node.cluster.kubernetesVersion", "$.node.cluster.certificateAuthority"} {
		if e := template.Explain(path); len(e) != 1 || e[0].Source != launch.Detected || !strings.HasSuffix(e[0].Origin, "at 2026-11-25T12:00:00Z") {
			t.Errorf("%s: %+v", path, e)
		}
	}
}

// A wrong command line sends no request.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"cluster", "name a managed cluster with --resource-group and --name, or a kubeconfig"},
		{"cluster --name example", "give both"},
		{"cluster --resource-group example-rg", "give both"},
		{"cluster --context example --resource-group a --name b", "--context is one of a kubeconfig"},
		{"cluster --cloud Mars --resource-group a --name b", "AzurePublicCloud, AzureChinaCloud or AzureUSGovernment"},
		{"cluster --settings --kubeconfig none", "--settings are those of a managed cluster"},
		{"cluster example", `unexpected argument "example"`},
		{"images", "--location"},
		{"images --location eastus --gallery AKSUbuntu", "is not the ID of a gallery"},
		{"images --locatoin eastus", "did you mean --location?"},
		{"image", "did you mean images?"},
	} {
		azureCloud := cloud(t)
		start(t, azureCloud, strings.Fields(c.args)...).want(t, exitcode.Usage, c.want)
		if asked := azureCloud.Asked(); len(asked) > 0 {
			t.Errorf("%s: %q was asked for", c.args, asked)
		}
	}
	var out, messages bytes.Buffer
	code := run(t.Context(), cluster, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, world{environment: func(string) string { return "" }})
	result{code, "", messages.String()}.want(t, exitcode.Usage, "--subscription")
}

// If the sign-in fails, one message says so and what to do, and no request is sent.
func TestNotSignedIn(t *testing.T) {
	for _, args := range [][]string{cluster, {"images", "--location", "eastus"}} {
		credential := new(azfake.TokenCredential)
		credential.SetError(errors.New("no credential\nwas found"))
		azureCloud := cloud(t)
		var out, messages bytes.Buffer
		w := world{environment: func(string) string { return fakeazure.Subscription }, credential: credential, transport: azureCloud}
		code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, w)
		result{code, "", messages.String()}.want(t, exitcode.Invalid, "sign in to Azure: no credential was found\n", "az login")
		if asked := azureCloud.Asked(); out.Len() > 0 || len(asked) > 0 || strings.Count(messages.String(), "sign in") != 1 {
			t.Errorf("%q was asked for, and %s", asked, messages.String())
		}
	}
}

// Each command's help has a valid example.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"cluster", "--help"}, {"images", "--help"}} {
		r := start(t, cloud(t), args...)
		r.want(t, exitcode.Success)
		if !strings.Contains(r.out, "Examples:\n  slipway-azure-detect ") {
			t.Errorf("%q: %s", args, r.out)
		}
		for line := range strings.Lines(r.out) {
			if example, ok := strings.CutPrefix(strings.TrimSpace(line), program+" "); ok && strings.Contains(example, "--") {
				checkExample(t, strings.Fields(example))
			}
		}
	}
}

// checkExample checks that a command accepts an example's flags.
func checkExample(t *testing.T, args []string) {
	t.Helper()
	root := newRoot(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, world{})
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		t.Errorf("%q: %v", args, err)
		return
	}
	if slices.Contains(rest, "FILE") { // this is the usage line
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}
