package azure

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// kindOfImage is which of a family's images a node wants.
type kindOfImage uint8

const (
	ordinary kindOfImage = iota
	trusted
	withFIPS
	trustedFIPS
)

// kindOf is the kind of image that a machine wants.
func kindOf(m *launch.Machine) kindOfImage {
	switch isTrusted := m.Security.Trusted(); {
	case value(m.Image.FIPS) && isTrusted:
		return trustedFIPS
	case value(m.Image.FIPS):
		return withFIPS
	case isTrusted:
		return trusted
	}
	return ordinary
}

// definition is a kind of image: where it boots, and what it is called.
type definition struct {
	family       string
	kind         kindOfImage
	architecture string
	generation   string
	name         string
	distribution string
}

// definitions are all images, of each family and kind the preferred one first (Karpenter for Azure: imagefamily,
// DefaultImages).
var definitions = []definition{
	{ubuntu2204, ordinary, "amd64", "2", "2204gen2containerd", "aks-ubuntu-containerd-22.04-gen2"},
	{ubuntu2204, ordinary, "amd64", "1", "2204containerd", "aks-ubuntu-containerd-22.04"},
	{ubuntu2204, ordinary, "arm64", "2", "2204gen2arm64containerd", "aks-ubuntu-arm64-containerd-22.04-gen2"},
	{ubuntu2204, trusted, "amd64", "2", "2204gen2TLcontainerd", "aks-ubuntu-containerd-22.04-tl-gen2"},
	{ubuntu2204, trustedFIPS, "amd64", "2", "2204gen2fipsTLcontainerd", "aks-ubuntu-fips-containerd-22.04-tl-gen2"},
	{ubuntu2404, ordinary, "amd64", "2", "2404gen2containerd", "aks-ubuntu-containerd-24.04-gen2"},
	{ubuntu2404, ordinary, "amd64", "1", "2404containerd", "aks-ubuntu-containerd-24.04"},
	{ubuntu2404, ordinary, "arm64", "2", "2404gen2arm64containerd", "aks-ubuntu-arm64-containerd-24.04-gen2"},
	{ubuntu2404, trusted, "amd64", "2", "2404gen2TLcontainerd", "aks-ubuntu-containerd-24.04-tl-gen2"},
	{ubuntu2004, withFIPS, "amd64", "2", "2004gen2fipscontainerd", "aks-ubuntu-fips-containerd-20.04-gen2"},
	{ubuntu2004, withFIPS, "amd64", "1", "2004fipscontainerd", "aks-ubuntu-fips-containerd-20.04"},
	{linux2, ordinary, "amd64", "2", "V2gen2", "aks-azurelinux-v2-gen2"},
	{linux2, ordinary, "amd64", "1", "V2", "aks-azurelinux-v2"},
	{linux2, ordinary, "arm64", "2", "V2gen2arm64", "aks-azurelinux-v2-arm64-gen2"},
	{linux2, trusted, "amd64", "2", "V2gen2TL", "aks-azurelinux-v2-gen2-tl"},
	{linux2, withFIPS, "amd64", "2", "V2gen2fips", "aks-azurelinux-v2-gen2-fips"},
	{linux2, withFIPS, "amd64", "1", "V2fips", "aks-azurelinux-v2-fips"},
	{linux3, ordinary, "amd64", "2", "V3gen2", "aks-azurelinux-v3-gen2"},
	{linux3, ordinary, "amd64", "1", "V3", "aks-azurelinux-v3"},
	{linux3, ordinary, "arm64", "2", "V3gen2arm64", "aks-azurelinux-v3-arm64-gen2"},
	{linux3, trusted, "amd64", "2", "V3gen2TL", "aks-azurelinux-v3-gen2-tl"},
	{linux3, withFIPS, "amd64", "2", "V3gen2fips", "aks-azurelinux-v3-gen2-fips"},
	{linux3, withFIPS, "amd64", "1", "V3fips", "aks-azurelinux-v3-fips"},
	{linux3, withFIPS, "arm64", "2", "V3gen2arm64fips", "aks-azurelinux-v3-arm64-gen2-fips"},
}

// DefinitionNames are the names of all definitions that a node can have, in the order of their families, and at last those of one's
// own: what else a gallery has is of no use to a launch.
func (i *Images) DefinitionNames() []string {
	all := make([]string, 0, len(definitions)+len(i.Definitions))
	for n := range definitions {
		all = append(all, definitions[n].name)
	}
	for n := range i.Definitions {
		all = append(all, i.Definitions[n].Name)
	}
	return all
}

// suitable are the definitions of a machine's family that it boots.
func (i *Images) suitable(m *launch.Machine) []*definition {
	if m.Image.Family == custom {
		return suitableOwn(i.Definitions, m)
	}
	var found []*definition
	kind, t := kindOf(m), &m.Type
	for i := range definitions {
		d := &definitions[i]
		if d.family == m.Image.Family && d.kind == kind && d.architecture == t.Architecture && slices.Contains(t.Generations, d.generation) {
			found = append(found, d)
		}
	}
	return found
}

func names(list []*definition) string {
	var all []string
	for _, d := range list {
		all = append(all, d.name)
	}
	return strings.Join(all, " and ")
}

var (
	imageReads = []string{"$.machine.image", "$.machine.security.vtpm", "$.machine.security.secureBoot", "$.machine.type.architecture", "$.machine.type.generations"}
	imageSets  = []string{"$.machine.image.id", "$.machine.image.definition", "$.machine.image.version", "$.machine.image.distribution"}
)

// imageRule chooses the image. Images with FIPS are in AKS's own galleries alone (Karpenter for Azure: imagefamily,
// NodeImageProvider), which the setting use-sig names.
func imageRule(images *Images, settings *Settings) rule {
	return rule{
		name: "image", reads: imageReads, sets: imageSets,
		decide: func(p *problems, d *launch.Document) {
			t := &d.Machine.Type
			elsewhere := value(d.Machine.Image.FIPS) && !isOwn(d) && (settings == nil || !settings.UseSIG)
			if elsewhere {
				p.wrong("$.machine.image.fips", "is wanted, and images with it are in AKS's own galleries alone; set use-sig, or take fipsMode out of the class")
			}
			switch {
			case d.Machine.Image.Family == "": // said already
			case t.Architecture == "" || len(t.Generations) == 0:
				p.Report(true, nodeconfig.Missing, "$.machine.type", "does not say architecture and generation, and the image depends on them")
			case images == nil:
				p.Report(true, nodeconfig.Missing, "$.machine.image", "cannot be chosen: no list of images is given")
			case elsewhere && len(images.suitable(&d.Machine)) > 0: // with use-sig there would be one
			default:
				chosen, _, err := images.Choose(&d.Machine, settings)
				if err != nil {
					p.wrong("$.machine.image", err.Error())
				}
				d.Machine.Image = chosen
			}
		},
	}
}
