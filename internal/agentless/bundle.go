package agentless

import (
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/bundle"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The documents of a bundle.
const (
	cloudConfigName = "cloud-config.yaml"
	ignitionName    = "config.ign"
)

// Bundle renders the machine as a bundle of this program's version, with the documents in it. It has the digests of the image's programs, if
// they are known.
func (m *Machine) Bundle(version string, programs []components.Component) (*bundle.Manifest, map[string][]byte, error) {
	ignition, err := m.Ignition()
	if err != nil {
		return nil, nil, err
	}
	documents := map[string][]byte{cloudConfigName: m.CloudConfig(), ignitionName: ignition}
	manifest := &bundle.Manifest{Slipway: version, Config: m.Config, Node: m.looksFor()}
	manifest.Node.Programs = slices.DeleteFunc(slices.Clone(programs), func(c components.Component) bool { return c.SHA256 == "" })
	for _, name := range []string{cloudConfigName, ignitionName} {
		manifest.Renderings = append(manifest.Renderings, bundle.Rendering{Name: name, SHA256: bundle.Sum(documents[name])})
	}
	for _, d := range m.Directories {
		manifest.Entries = append(manifest.Entries, bundle.Entry{Path: d.Path, Type: bundle.TypeDirectory, Mode: bundle.Mode(d.Mode), UID: d.UID, GID: d.GID})
	}
	for _, f := range m.Files {
		until := f.Until
		if f.Stays {
			until = nil
		}
		manifest.Entries = append(manifest.Entries, bundle.Entry{
			Path: f.Path, Type: bundle.TypeFile, Mode: bundle.Mode(f.Mode), UID: f.UID, GID: f.GID,
			SHA256: bundle.Sum(f.Content), Until: until, Content: f.Content,
		})
	}
	for _, l := range m.Links {
		manifest.Entries = append(manifest.Entries, bundle.Entry{Path: l.Path, Type: bundle.TypeLink, Target: l.Target})
	}
	return manifest, documents, manifest.Seal()
}

// looksFor describes the node to the search for what is not part of it.
func (m *Machine) looksFor() integrity.Node {
	p := m.plan
	p.Resources = slices.Clip(p.Resources) // they are the plan's
	for _, f := range m.Files {            // units that only such a machine has are among them
		p.Resources = append(p.Resources, resource.Resource{Spec: f})
	}
	return integrity.Of(p)
}
