package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/distro"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/contracts"
)

// machines are the facts of an image of each distribution in the table, in its order, and of one that is not in it.
func machines(t *testing.T) (all []facts.Facts) {
	t.Helper()
	found, err := filepath.Glob("testdata/images/*.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no images: %v", err)
	}
	for _, file := range found {
		var known map[string]any
		readJSON(t, file, &known)
		parsed, err := facts.Parse(marshal(t, known))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, parsed)
	}
	place := func(f facts.Facts) int {
		d, like := distro.Of(f.OS)
		if like != "" {
			return len(found)
		}
		return slices.Index(distro.All(), d)
	}
	slices.SortStableFunc(all, func(a, b facts.Facts) int { return place(a) - place(b) })
	return all
}

// TestFactsAreOfImages checks that each file with facts names its image, and the software that was installed on it.
func TestFactsAreOfImages(t *testing.T) {
	found, _ := filepath.Glob("testdata/images/*.json")
	for _, file := range found {
		var known map[string]any
		if readJSON(t, file, &known); known["image"] == nil {
			t.Errorf("%s: of which image are these facts?", file)
		}
	}
	have := make(map[*distro.Distribution]bool)
	for _, f := range machines(t) {
		d, _ := distro.Of(f.OS)
		have[d] = true
		places := slices.Concat(d.Programs.Containerd, d.Programs.Runc, d.Programs.Kubelet, d.Programs.Credentials)
		for _, c := range f.Components {
			if !slices.Contains(places, strings.TrimSuffix(c.Path, "-"+c.Version)) {
				t.Errorf("%s: %s is at no usual place of the distribution: %s", f.OS.ID, c.Name, c.Path)
			}
		}
		if version := d.CgroupVersion(f.OS.VersionID); version != 0 && version != f.CgroupVersion {
			t.Errorf("%s: the image has control groups of version %d, and the table says %d", f.OS.ID, f.CgroupVersion, version)
		}
	}
	for _, d := range distro.All() {
		if !have[d] {
			t.Errorf("there are no facts of an image of %s", d.Name)
		}
	}
}

// contractSetting is a setting that distributions apply differently.
type contractSetting struct {
	name string
	// path is the setting's path, and merge sets it, as JSON.
	path, merge string
}

// byDistribution are those of the table in the documentation.
var byDistribution = []contractSetting{
	{"`trust.certificates`", "$.trust.certificates", `{"trust": {"certificates": ["` + strings.ReplaceAll(authority, "\n", `\n`) + `"]}}`},
	{"`access.ssh.enabled: false`", "$.access.ssh.enabled", `{"access": {"ssh": {"enabled": false}}}`},
	{"`access.ssh.publicKeyAuthentication: false`", "$.access.ssh.publicKeyAuthentication", `{"access": {"ssh": {"publicKeyAuthentication": false}}}`},
	{"`system.unattendedUpgrades: true`", "$.system.unattendedUpgrades", `{"system": {"unattendedUpgrades": true}}`},
	{"`system.unattendedUpgrades: false`", "$.system.unattendedUpgrades", `{"system": {"unattendedUpgrades": false}}`},
	{"`network.nameservers`", "$.network.nameservers", `{"network": {"nameservers": ["10.0.0.53"]}}`},
	{"`network.searchDomains`", "$.network.searchDomains", `{"network": {"searchDomains": ["corp.example"]}}`},
	{"`network.searchDomains` with `network.nameservers`", "$.network", `{"network": {"nameservers": ["10.0.0.53"], "searchDomains": ["corp.example"]}}`},
	{"`network.secondaryInterfaces`", "$.network.secondaryInterfaces", `{"network": {"secondaryInterfaces": 1}}`},
	{"`cloud.azure.custom.repositoryEndpoint`", "$.cloud.azure.custom.repositoryEndpoint",
		`{"cloud": {"provider": "azure", "azure": {"environment": "AzureStackCloud", "custom": {"endpoints": "{}", "repositoryEndpoint": "https://repodepot.example/ubuntu"}}}}`},
	{"`access.messageOfTheDay`", "$.access.messageOfTheDay", `{"access": {"messageOfTheDay": "hello"}}`},
}

const authority = `-----BEGIN CERTIFICATE-----
MIIBgDCCASegAwIBAgIUESmlMK6UOKAoIIr+7PiDtYUboVkwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKZXhhbXBsZS1jYTAgFw0yNjExMjAxMjU4MTRaGA8yMTI2MTAy
NzEyNTgxNFowFTETMBEGA1UEAwwKZXhhbXBsZS1jYTBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABLfquL+DradkA6unOzofJYFcw5SeHh3XXvvVudQ4IItihnJf0c99
LCa659wmuT3wFwG3p2wpfAznVaccKHERRmOjUzBRMB0GA1UdDgQWBBT7ITmTIbzL
jSly8AmXNs/xE/ukQTAfBgNVHSMEGDAWgBT7ITmTIbzLjSly8AmXNs/xE/ukQTAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCICcBg+PJc4xhArCvYj8I
LdfuDhO6aCWLdvfo91CaVg2rAiAY3nOfPQE8I6pivufhxo82i+Zngr9QPwiSg2/b
kQRNrg==
-----END CERTIFICATE-----
`

// document is a contract with only this setting.
func (s *contractSetting) document(t *testing.T) (document map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.merge), &document); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return document
}

// on returns what a distribution does with a setting: it is applied, left out with a warning, or the contract is refused.
func (s *contractSetting) on(t *testing.T, known facts.Facts) string {
	t.Helper()
	known.Instance = &facts.Instance{Platform: facts.Azure, Interfaces: []facts.InstanceInterface{{MAC: "00:0d:3a:00:00:01"}, {MAC: "00:0d:3a:00:00:02"}}}
	c := spec{Example: "native/minimal.yaml", Merge: merge(map[string]any{"cluster": map[string]any{"kubernetesVersion": "installed"}}, s.document(t))}
	_, document := c.contract(t)
	contract := compile.ReadOne("node.yaml", document)
	_, problems := contract.Plan(known)
	for _, p := range problems {
		switch {
		case p.Path != s.path && !strings.HasPrefix(p.Path, s.path+"[") && !strings.HasPrefix(p.Path, s.path+"."):
		case p.Fatal:
			return "refused"
		case p.Kind == nodeconfig.NotApplied:
			return "warning"
		}
	}
	for _, p := range problems {
		if p.Fatal {
			t.Fatalf("%s: %s: %s", s.name, known.OS.ID, p)
		}
	}
	return "yes"
}

// Each distribution in the table accepts, or warns of, the settings that Ubuntu accepts.
func TestEachDistributionTakesAContract(t *testing.T) {
	for _, known := range machines(t) {
		all := map[string]any{}
		for _, s := range byDistribution {
			if s.on(t, known) != "refused" {
				merge(all, s.document(t))
			}
		}
		whole := contractSetting{"all of them", "$", string(marshal(t, all))}
		if got := whole.on(t, known); got == "refused" {
			t.Errorf("%s: a contract with all that the distribution takes is refused", known.OS.ID)
		}
	}
}

const distributionsPage = "../../docs/distributions.md"

// TestDistributionsPage writes the tables of the documentation, by planning each setting on an image of each distribution.
func TestDistributionsPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString(`# Distributions

A test writes this page (` + "`make golden`" + `). It plans each setting of a contract on the facts of an image of each distribution.
*yes*: the node has it. *warning*: the node is made without it. *refused*: no node is made, unless the setting is named in
` + "`--allow-unapplied`" + `. A distribution that the table does not have is taken for the first one of its ` + "`ID_LIKE`" + ` (os-release(5)) that
it has, with a warning. Facts come before the table: where a machine runs systemd-networkd, or has a program in another usual
place, the facts say so.

`)
	list := machines(t)
	page.WriteString("| setting |")
	for _, known := range list {
		name := known.OS.ID + " by `ID_LIKE`"
		if d, like := distro.Of(known.OS); like == "" {
			name = d.Name
		}
		page.WriteString(" " + name + " |")
	}
	page.WriteString("\n|---|" + strings.Repeat("---|", len(list)) + "\n")
	for _, s := range byDistribution {
		page.WriteString("| " + s.name + " |")
		for _, known := range list {
			page.WriteString(" " + s.on(t, known) + " |")
		}
		page.WriteString("\n")
	}
	for _, d := range distro.All() {
		fmt.Fprintf(&page, "\n## %s\n\n| cell | value |\n|---|---|\n", d.Name)
		writeCells(&page, d, reflect.ValueOf(*d), "")
	}
	if *contracts.Update {
		write(t, distributionsPage, page.Bytes())
		return
	}
	if have, err := os.ReadFile(distributionsPage); err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s is stale (%v); make golden writes it", distributionsPage, err)
	}
}

// writeCells writes the cells of a row, one on a line, or a group of cells that are all empty for the same reason.
func writeCells(page *bytes.Buffer, d *distro.Distribution, v reflect.Value, name string) {
	reason := d.Reason(name)
	switch {
	case v.IsZero() && reason != "":
		fmt.Fprintf(page, "| %s | none: %s |\n", name, reason)
		return
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && field.Name != "Empty" && field.Name != "Name" {
				writeCells(page, d, v.Field(i), strings.TrimPrefix(name+"."+field.Name, "."))
			}
		}
		return
	}
	separator := ", "
	if name == "Trust.Tool" {
		separator = " "
	}
	text := cellText(v, separator)
	fmt.Fprintf(page, "| %s | `%s` |\n", name, strings.ReplaceAll(strings.TrimSpace(text), "\n", " "))
}

// cellText is the text of a cell: the elements of a list with a separator, or the names and values of a struct's set fields.
func cellText(v reflect.Value, separator string) string {
	var words []string
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			words = append(words, cellText(v.Index(i), separator))
		}
		return strings.Join(words, separator)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				words = append(words, strings.ToLower(v.Type().Field(i).Name), cellText(v.Field(i), separator))
			}
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v.Interface())
}
