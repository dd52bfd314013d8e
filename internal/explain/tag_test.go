package explain

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// A field names the tags that change its effect, in both contracts.
func TestTags(t *testing.T) {
	for path, want := range map[string][]string{
		"network.hostsAgent":                {facts.ServerAddressTag},
		"enable_hosts_config_agent":         {facts.ServerAddressTag},
		"kubelet.config.serverTLSBootstrap": {facts.ServingTag},
		"kubelet.nodeName":                  nil,
		"kubelet_config.kubelet_config_file_config.server_tls_bootstrap": {facts.ServingTag},
		`kubelet_config.kubelet_flags["--rotate-server-certificates"]`:   {facts.ServingTag},
		`kubelet_config.kubelet_flags["--max-pods"]`:                     nil,
		"network_config.network_plugin":                                  nil,
	} {
		x, err := FieldOfAny(dialect.Names(), path, facts.Facts{})
		if err != nil {
			t.Fatal(path, err)
		}
		var names []string
		for _, tag := range x.Tags {
			names = append(names, tag.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has the tags %q, want %q", path, names, want)
		}
	}
	if _, ok := Tag("skipbinarycleanup"); !ok {
		t.Error("a tag is not found by its name in small letters")
	}
	if _, ok := Tag("kubelet"); ok {
		t.Error("a field is a tag")
	}
}

// The settings of the table of tags are fields of a contract.
func TestSettingsOfTags(t *testing.T) {
	for _, tag := range facts.KnownTags {
		for _, setting := range tag.Settings {
			_, native := loadCatalog(dialect.Native).find(setting, nil)
			_, aks := loadCatalog(dialect.AKS).find(setting, nil)
			if native != nil && aks != nil {
				t.Errorf("%s: there is no %s: %v, %v", tag.Name, setting, native, aks)
			}
		}
	}
}
