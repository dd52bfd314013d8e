// Package bom writes a program's software bill of materials, as SPDX and as CycloneDX. Both list the modules that the program has, by its own
// record.
package bom

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"

	"github.com/slipway-dev/slipway/release/licence"
	"github.com/slipway-dev/slipway/release/product"
)

// Subject is a program of a release.
type Subject struct {
	Program  product.Program
	Platform product.Platform
	Version  string
	// Time is that of the commit. A bill that has the time of its making is another one each time.
	Time    time.Time
	SHA256  string
	Modules []licence.Module
}

// name is the document's.
func (s *Subject) name() string {
	return fmt.Sprintf("%s-%s-%s-%s", s.Program.Name, s.Version, s.Platform.OS, s.Platform.Architecture)
}

// own is the package URL of the program (github.com/package-url/purl-spec, "golang").
func (s *Subject) own() string {
	return fmt.Sprintf("pkg:golang/github.com/slipway-dev/slipway@%s?goarch=%s&goos=%s#cmd/%s", s.Version, s.Platform.Architecture, s.Platform.OS, s.Program.Name)
}

func purl(m licence.Module) string { return "pkg:golang/" + m.Path + "@" + m.Version }

func expression(m licence.Module) string { return strings.Join(m.Licenses, " AND ") }

// SPDX writes the bill in the form of SPDX 2.3.
func SPDX(s *Subject) ([]byte, error) {
	none := "NOASSERTION"
	d := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: s.name(),
		DocumentNamespace: fmt.Sprintf("%s/releases/%s/%s-%x", product.Homepage, s.Version, s.name(), sha256.Sum256([]byte(s.SHA256))),
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Organization", Creator: "Slipway"}}, Created: s.Time.UTC().Format(time.RFC3339),
		},
	}
	add := func(id, name, version, license, url, comment string) {
		d.Packages = append(d.Packages, &spdx.Package{
			PackageName: name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: version, PackageDownloadLocation: none,
			PackageLicenseConcluded: license, PackageLicenseDeclared: license, PackageCopyrightText: none, PackageComment: comment,
			PackageExternalReferences: []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: url}},
		})
	}
	add("Package-program", s.Program.Name, s.Version, product.License, s.own(), "")
	d.Packages[0].PrimaryPackagePurpose = "APPLICATION"
	d.Packages[0].PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: s.SHA256}}
	relate := func(from, to, how string) {
		d.Relationships = append(d.Relationships, &spdx.Relationship{RefA: common.MakeDocElementID("", from), RefB: common.MakeDocElementID("", to), Relationship: how})
	}
	relate("DOCUMENT", "Package-program", common.TypeRelationshipDescribe)
	for i, m := range s.Modules {
		id := fmt.Sprintf("Package-module-%d", i+1)
		comment := ""
		if m.Sum != "" {
			comment = "go.sum: " + m.Sum
		}
		add(id, m.Path, m.Version, expression(m), purl(m), comment)
		relate("Package-program", id, common.TypeRelationshipContains)
	}
	for _, p := range d.Packages {
		p.FilesAnalyzed, p.IsFilesAnalyzedTagPresent = false, true // the modules' files are in Go's sum
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}

// CycloneDX writes the bill in the form of CycloneDX 1.6.
func CycloneDX(s *Subject) ([]byte, error) {
	d := cyclonedx.NewBOM()
	d.SpecVersion = cyclonedx.SpecVersion1_6
	d.JSONSchema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
	d.Metadata = &cyclonedx.Metadata{
		Timestamp: s.Time.UTC().Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: s.own(), Type: cyclonedx.ComponentTypeApplication, Name: s.Program.Name, Version: s.Version, PackageURL: s.own(),
			Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: s.SHA256}},
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: product.License}}},
		},
	}
	var components []cyclonedx.Component
	var refs []string
	for _, m := range s.Modules {
		c := cyclonedx.Component{BOMRef: purl(m), Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m), Scope: cyclonedx.ScopeRequired}
		c.Licenses = &cyclonedx.Licenses{{Expression: expression(m)}}
		if m.Sum != "" {
			c.Properties = &[]cyclonedx.Property{{Name: "slipway:go.sum", Value: m.Sum}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	d.Components = &components
	d.Dependencies = &[]cyclonedx.Dependency{{Ref: s.own(), Dependencies: &refs}}
	var b bytes.Buffer
	e := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON)
	e.SetPretty(true)
	e.SetEscapeHTML(false)
	err := e.EncodeVersion(d, cyclonedx.SpecVersion1_6)
	return b.Bytes(), err
}
