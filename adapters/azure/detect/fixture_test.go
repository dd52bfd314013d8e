package detect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The cluster of the tests.
const (
	subscription = fakeazure.Subscription
	nodeGroup    = fakeazure.NodeGroup
	nodes        = fakeazure.Subnet
)

var example = detect.Cluster{Subscription: subscription, ResourceGroup: "example-rg", Name: "example"}

// secret is in every credential of the tests, and must be in no output.
const secret = "canary-of-a-credential"

// authority is the CA of package launch's own examples.
func authority(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../../examples/launch/detected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, problems := azure.ReadDetected(data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d.CertificateAuthority.Value
}

// withAuthority is a kubeconfig with a CA, and a token that must be in no output.
func withAuthority(pem string) []byte {
	return fakeazure.Kubeconfig("https://api.example.com:443", pem, secret)
}

// cloud is the example's, with a kubeconfig.
func cloud(t testing.TB) *fakeazure.Cloud {
	t.Helper()
	return fakeazure.Example(withAuthority(authority(t)))
}

// ask is a client of the fake cloud.
func ask(c *fakeazure.Cloud) *detect.Azure {
	return &detect.Azure{
		Credential: new(azfake.TokenCredential), Now: fakeazure.Noon,
		Options: &arm.ClientOptions{ClientOptions: policy.ClientOptions{Transport: c}},
	}
}

// flat splits a joined error.
func flat(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// factError returns the error of a fact.
func factError(t testing.TB, err error, fact string) error {
	t.Helper()
	for _, one := range flat(err) {
		if of, ok := errors.AsType[*detect.FactError](one); ok && of.Fact == fact {
			return of
		}
	}
	t.Fatalf("nothing is wrong with %s: %v", fact, err)
	return nil
}

// golden compares a document with a file.
func golden(t testing.TB, name string, document any) {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%s differs; go test -update rewrites it:\n%s", path, out.Bytes())
	}
}

// readable checks that a launch reads a document without a problem.
func readable(t testing.TB, document any, read func([]byte) []nodeconfig.Problem) {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), secret) {
		t.Errorf("a credential is in the document")
	}
	if problems := read(data); len(problems) > 0 {
		t.Errorf("a launch does not read the document: %v", problems)
	}
}

func detected(data []byte) []nodeconfig.Problem {
	_, problems := azure.ReadDetected(data)
	return problems
}

func imageList(data []byte) []nodeconfig.Problem {
	_, problems := azure.ReadImages(data)
	return problems
}
