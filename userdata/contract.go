package userdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The paths where a node reads its contract. The path selects the kind of contract.
const (
	// AKSPath is the path of an AKS contract, aksnodeconfig.v1 in JSON.
	AKSPath = "/opt/azure/containers/aks-node-controller-config.json"
	// NativePath is the path of every other contract in JSON.
	NativePath = "/etc/slipway/config.json"
	// NativeYAMLPath is the path of every other contract in YAML.
	NativeYAMLPath = "/etc/slipway/config.yaml"
)

// contractPlaces are the paths of all families of nodes.
var contractPlaces = slices.Sorted(maps.Keys(boothooks))

// FeaturesPath is where the launcher of AKS's node images reads the feature switches.
const FeaturesPath = "/opt/azure/containers/enabled_features.sh"

// Contract is a machine's contract. Treat it as secret: if it is formatted, logged or marshalled, it only shows its
// path and its size.
type Contract struct {
	// Document is the contract, JSON or YAML. It arrives unchanged.
	Document []byte
	// Path is where the node reads it: AKSPath, NativePath or NativeYAMLPath.
	Path string
	// Features are switches for the launcher of AKS's node images (enabled_features); they are
	// written to FeaturesPath. A native contract has none.
	Features map[string]string
	// Parts are the user's own, and come after the contract: for cloud-init in [MIME], Ignition configs in [Ignition].
	// A plain cloud-config cannot contain them.
	Parts []Part
}

// String names the contract without its content.
func (c Contract) String() string {
	return fmt.Sprintf("contract for %s (%d bytes) [redacted]", c.Path, len(c.Document))
}

// Format writes String for every verb.
func (c Contract) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// MarshalText returns String, for JSON, YAML and logs.
func (c Contract) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// InvalidError lists all problems of a Contract.
type InvalidError struct{ Problems []Problem }

// Problem is one problem of a Contract. It never contains a value of the contract.
type Problem struct {
	// Field is the field of Contract, for instance `Features["NAME"]` or "Parts[0].Name".
	Field string
	// Reason is what is wrong and what would be right.
	Reason string
}

// Error lists the problems.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("cannot render the contract: ")
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.Field + ": " + p.Reason)
	}
	return b.String()
}

// reporter records a problem of a field.
type reporter func(field, format string, args ...any)

// check returns the sorted names of the features, or an *InvalidError with all problems, including those of the parts
// for their reader.
func (c *Contract) check(checkParts partCheck) ([]string, error) {
	var problems []Problem
	add := func(field, format string, args ...any) {
		problems = append(problems, Problem{field, fmt.Sprintf(format, args...)})
	}
	if len(c.Document) == 0 {
		add("Document", "is empty; give the contract's text")
	}
	if _, known := boothooks[c.Path]; !known {
		add("Path", "%q is not a place where a node reads a contract; use one of %s",
			c.Path, strings.Join(slices.Sorted(maps.Keys(boothooks)), ", "))
	}
	if family := profile.OfContract(c.Path); len(c.Features) > 0 && family != nil && family.Agent.Launcher == "" {
		add("Features", "nothing reads them beside a native contract; leave them out")
	}
	names := slices.Sorted(maps.Keys(c.Features))
	for _, name := range names {
		if reason := nodeconfig.CheckFeature(name, c.Features[name]); reason != "" {
			add(featureField(name), "%s", reason)
		}
	}
	if len(c.Parts) > MaxParts {
		add("Parts", "are %d; use at most %d", len(c.Parts), MaxParts)
	} else if len(c.Parts) > 0 {
		checkParts(c, add)
	}
	if problems != nil {
		return nil, &InvalidError{problems}
	}
	return names, nil
}

func featureField(name string) string { return fmt.Sprintf("Features[%q]", name) }

// features returns the content of FeaturesPath, lines NAME=value in the order of names. It is nil if there are no
// features.
func (c *Contract) features(names []string) []byte {
	var content []byte
	for _, name := range names {
		content = append(content, name+"="+c.Features[name]+"\n"...)
	}
	return content
}

// CSE returns the command of Azure's custom script extension that waits for the node. It ends when provisioning has
// ended, prints its result, and has its exit code. It names the program of the contract's image, and depends only on
// Path.
func (c Contract) CSE() string {
	return c.family().Agent.Program + " provision-wait"
}

// unit returns the unit that provisions from c, if nothing on the machine chooses a better one.
func (c *Contract) unit() string { return c.family().Agent.Unit }

// family returns the family of nodes that has its contract at Path.
func (c *Contract) family() *profile.Profile {
	if family := profile.OfContract(c.Path); family != nil {
		return family
	}
	return profile.Default()
}
