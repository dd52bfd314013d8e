package nodeconfigutils_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/slipway-dev/slipway/api/aksnodeconfig/nodeconfigutils"
	aksnodeconfigv1 "github.com/slipway-dev/slipway/api/aksnodeconfig/v1"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

func configurations(t testing.TB) map[string]*aksnodeconfigv1.Configuration {
	t.Helper()
	files, err := filepath.Glob("../../../examples/aks/*.json")
	if err != nil || len(files) < 4 {
		t.Fatal("no examples", err)
	}
	all := make(map[string]*aksnodeconfigv1.Configuration)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if all[file], err = nodeconfigutils.UnmarshalConfigurationV1(data); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestCustomData: the node finds the configuration's contract, and reads it as the document; the same configuration gives the same
// bytes.
func TestCustomData(t *testing.T) {
	for file, cfg := range configurations(t) {
		before := proto.Clone(cfg)
		document, err := nodeconfigutils.MarshalConfigurationV1(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := nodeconfigutils.UnmarshalConfigurationV1(document); err != nil || !proto.Equal(again, cfg) {
			t.Errorf("%s: marshalled, it is another: %v", file, err)
		}
		for name, render := range map[string]func(*aksnodeconfigv1.Configuration) (string, error){
			"CustomData": nodeconfigutils.CustomData, "CustomDataFlatcar": nodeconfigutils.CustomDataFlatcar,
		} {
			text, err := render(cfg)
			if err != nil {
				t.Fatalf("%s of %s: %v", name, file, err)
			}
			found, err := envelope.Open([]byte(text), []string{userdata.AKSPath})
			if err != nil || !bytes.Equal(found.Data, document) || found.Path != userdata.AKSPath {
				t.Errorf("%s of %s: the node finds %v, %v", name, file, found, err)
			}
			for range 20 {
				if again, err := render(cfg); err != nil || again != text {
					t.Fatalf("%s of %s differs from the first, %v", name, file, err)
				}
			}
		}
		if err := nodeconfigutils.Validate(cfg); err != nil || !proto.Equal(cfg, before) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if want := (userdata.Contract{Path: userdata.AKSPath}).CSE(); nodeconfigutils.CSE != want {
		t.Errorf("CSE is %q, want %q", nodeconfigutils.CSE, want)
	}
}

// TestFeatures: the switches for the launcher are written beside the contract.
func TestFeatures(t *testing.T) {
	cfg := configurations(t)["../../../examples/aks/minimal.json"]
	cfg.EnabledFeatures = map[string]string{"ENABLE_PROVISIONING_HOTFIX": "true"}
	text, err := nodeconfigutils.CustomData(cfg)
	if err != nil {
		t.Fatal(err)
	}
	document, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !strings.Contains(string(document), userdata.FeaturesPath) {
		t.Errorf("the switches are not there: %v", err)
	}
}

// TestInvalid: all problems that prevent a node are reported at once, without a value of the configuration.
func TestInvalid(t *testing.T) {
	const secret = "hunter2hunter2"
	bad := &aksnodeconfigv1.Configuration{
		Version:           "v1",
		KubernetesVersion: secret,
		ApiServerConfig:   &aksnodeconfigv1.ApiServerConfig{ApiServerName: secret + " "},
		EnabledFeatures:   map[string]string{"A": secret + "\n"},
	}
	large := configurations(t)["../../../examples/aks/minimal.json"]
	large.KubeletConfig = &aksnodeconfigv1.KubeletConfig{KubeletNodeLabels: map[string]string{}}
	for i := range 2000 {
		large.KubeletConfig.KubeletNodeLabels[fmt.Sprintf("label-%d", i)] = "a-value-of-some-length"
	}
	for name, render := range map[string]func(*aksnodeconfigv1.Configuration) (string, error){
		"CustomData": nodeconfigutils.CustomData, "CustomDataFlatcar": nodeconfigutils.CustomDataFlatcar,
		"Validate": func(c *aksnodeconfigv1.Configuration) (string, error) { return "", nodeconfigutils.Validate(c) },
	} {
		_, err := render(bad)
		invalid, ok := errors.AsType[*nodeconfigutils.InvalidError](err)
		if !ok || len(invalid.Problems) < 4 || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "$.kubernetes_version: ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := render(nil); err == nil {
			t.Errorf("%s: nil is taken", name)
		}
		if _, err := render(&aksnodeconfigv1.Configuration{Version: "\xff"}); err == nil || strings.Contains(err.Error(), "\xff") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = render(large)
		if _, ok := errors.AsType[*userdata.TooLargeError](err); ok != (name != "Validate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := nodeconfigutils.MarshalConfigurationV1(nil); err == nil {
		t.Error("nil is marshalled")
	}
	if _, err := nodeconfigutils.UnmarshalConfigurationV1([]byte(`{"version":1}`)); err == nil {
		t.Error("a number is taken for a text")
	}
}
