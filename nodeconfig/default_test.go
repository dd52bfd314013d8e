package nodeconfig_test

import (
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// TestDefault sets defaults on the documents of testdata/default.yaml.
func TestDefault(t *testing.T) {
	for _, c := range contracts.Load(t, "", "testdata/default.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			config := complete(t, c.Document)
			c.CompareConfig(t, config)
			checkDefaultTwice(t, config)
		})
	}
}

// checkDefaultTwice checks that Default does not change a complete config.
func checkDefaultTwice(t *testing.T, config *nodeconfig.NodeConfig) {
	t.Helper()
	once := string(nodeconfig.Encode(config))
	nodeconfig.Default(config)
	if twice := string(nodeconfig.Encode(config)); twice != once {
		t.Errorf("after one Default\n%s\nafter two\n%s", once, twice)
	}
}

func TestDefaultTwice(t *testing.T) {
	examples, err := filepath.Glob("../examples/native/*")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	configs := []*nodeconfig.NodeConfig{new(nodeconfig.NodeConfig), fullConfig()}
	for _, example := range examples {
		config, problems := nodeconfig.FromTree(contracts.Parse(t, example))
		if len(problems) > 0 {
			t.Errorf("%s: %v", example, problems)
		}
		configs = append(configs, config)
	}
	for _, l := range new(filler).leaves(configType, "$") {
		configs = append(configs, l.config())
	}
	for _, config := range configs {
		nodeconfig.Default(config)
		checkDefaultTwice(t, config)
	}
}

func TestAzureEnvironment(t *testing.T) {
	for location, want := range map[string]string{
		"":                   "AzurePublicCloud",
		"eastus":             "AzurePublicCloud",
		"chinaeast2":         "AzureChinaCloud",
		" China East\t2 ":    "AzureChinaCloud",
		"CHINANORTH":         "AzureChinaCloud",
		"germanycentral":     "AzureGermanCloud",
		"Germany North East": "AzureGermanCloud",
		"germanywestcentral": "AzurePublicCloud",
		"usgovvirginia":      "AzureUSGovernmentCloud",
		"usdodeast":          "AzureUSGovernmentCloud",
		"southchina":         "AzurePublicCloud",
	} {
		if got := nodeconfig.AzureEnvironment(location); got != want {
			t.Errorf("%q: got %s, want %s", location, got, want)
		}
	}
}
