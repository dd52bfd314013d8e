package azure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
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

// ImageDefinitions are the names of all images that a node can have, in the order of their families: what else a gallery has is
// of no use to a launch.
func ImageDefinitions() []string {
	all := make([]string, len(definitions))
	for i := range definitions {
		all[i] = definitions[i].name
	}
	return all
}

// Images are the images that a region has, and which of them are allowed.
type Images struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Images     []ImageVersion `json:"images"`
	Pin        Pin            `json:"pin,omitzero"`
	// Time is when the list was made, in RFC 3339.
	Time string `json:"time,omitempty"`
	// InUse are the versions that nodes of the class have, by their IDs. Outside the maintenance window their definitions get no
	// newer version; a definition that is not among them does. Empty for a new class, and after an upgrade of Kubernetes.
	InUse []string `json:"inUse,omitempty"`
	// Maintenance is the next window for newer versions; nil for always.
	Maintenance *Maintenance `json:"maintenance,omitempty"`

	remembered *choices
}

// choices are what was chosen, for each kind of machine.
type choices struct {
	mu  sync.Mutex
	all map[choiceKey]choice
}

// choiceKey is a kind of machine: what the choice of an image depends on.
type choiceKey struct {
	wanted, family, architecture, generations string
	fips, trusted                             bool
}

type choice struct {
	chosen  launch.Image
	against []Reason
	err     error
}

// Remember has [Images.Choose] keep what it has chosen, for a list that nobody changes any more: a long list is then looked
// through once for each kind of machine. [ReadImages] calls it.
func (i *Images) Remember() { i.remembered = &choices{all: make(map[choiceKey]choice)} }

// Maintenance is a window, in RFC 3339 (AKS: the ConfigMap upcoming-maintenance-window, aksManagedNodeOSUpgradeSchedule-start and
// -end).
type Maintenance struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// ImageVersion is one version of an image.
type ImageVersion struct {
	// ID is the version's own in Azure. Its last names are the definition and the version.
	ID string `json:"id"`
	// Published is when, in RFC 3339; empty where that is not known.
	Published string `json:"published,omitempty"`
	// Digest names what is in the image; empty where that is not known.
	Digest string `json:"digest,omitempty"`
}

// Pin restricts which versions are taken. All that is said counts.
type Pin struct {
	// Version is the one that is taken: "202608.12.0".
	Version string `json:"version,omitempty"`
	// NotAfter is a time in RFC 3339; what was published later is not taken.
	NotAfter string `json:"notAfter,omitempty"`
	// Digest is that of the image that is taken.
	Digest string `json:"digest,omitempty"`
	// Allowed are the versions that may be taken.
	Allowed []string `json:"allowed,omitempty"`
}

// Reason says why an image was not taken.
type Reason struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// ReadImages reads a list of images, YAML or JSON. Every problem is returned.
func ReadImages(data []byte) (*Images, []nodeconfig.Problem) {
	i := new(Images)
	p := problems{list: launch.Read(data, nodeconfig.APIVersion, ImagesKind, i)}
	for n := range i.Images {
		at := document.IndexPath("$.images", n)
		if !isImage(i.Images[n].ID) {
			p.wrong(at+".id", "is not the ID of an image's version, which ends in images/DEFINITION/versions/VERSION")
		}
		p.time(at+".published", i.Images[n].Published)
	}
	p.time("$.pin.notAfter", i.Pin.NotAfter)
	i.window(&p)
	nodeconfig.SortProblems(p.list)
	i.Remember()
	return i, p.list
}

// window checks the maintenance window.
func (i *Images) window(p *problems) {
	p.time("$.time", i.Time)
	for n, id := range i.InUse {
		if !isImage(id) {
			p.wrong(document.IndexPath("$.inUse", n), "is not the ID of an image's version")
		}
	}
	m := i.Maintenance
	if m == nil {
		return
	}
	p.time("$.maintenance.start", m.Start)
	p.time("$.maintenance.end", m.End)
	switch {
	case m.Start == "" || m.End == "":
		p.add(true, nodeconfig.Missing, "$.maintenance", "has one end alone; give start and end, or neither")
	case i.Time == "":
		p.add(true, nodeconfig.Missing, "$.time", "is missing; it decides whether the maintenance window is open")
	case timeOf(m.End).Before(timeOf(m.Start)):
		p.wrong("$.maintenance.end", "is before the start")
	}
}

// isOpen reports whether newer versions may be taken.
func (i *Images) isOpen() bool {
	if i.Maintenance == nil {
		return true
	}
	w := launch.Window{Start: timeOf(i.Maintenance.Start), End: timeOf(i.Maintenance.End)}
	return w.Contains(timeOf(i.Time))
}

// keptVersions are versions by their definitions, in lower case.
type keptVersions map[string]string

// version is that of a definition; empty for none.
func (k keptVersions) version(name string) string {
	if len(k) == 0 {
		return ""
	}
	return k[strings.ToLower(name)]
}

// kept are the versions that are in use, by their definitions, where nothing newer may be taken.
func (i *Images) kept() keptVersions {
	if i.isOpen() {
		return nil
	}
	kept := make(keptVersions, len(i.InUse))
	for _, id := range i.InUse {
		v := ImageVersion{ID: id}
		name, version := v.parts()
		kept[strings.ToLower(name)] = version
	}
	return kept
}

func (p *problems) time(path, text string) {
	if _, err := time.Parse(time.RFC3339, text); text != "" && err != nil {
		p.wrong(path, "want a time such as 2026-08-12T00:00:00Z")
	}
}

// parts are the definition and the version in an ID.
func (v *ImageVersion) parts() (name, version string) {
	rest, version := cutLast(v.ID)
	rest, _ = cutLast(rest)
	_, name = cutLast(rest)
	return name, version
}

// isImage reports whether an ID is that of an image's version.
func isImage(id string) bool {
	rest, version := cutLast(id)
	rest, versions := cutLast(rest)
	rest, name := cutLast(rest)
	_, images := cutLast(rest)
	return strings.EqualFold(versions, "versions") && strings.EqualFold(images, "images") && isResourceName(name) && isResourceName(version)
}

// cutLast takes the last part off a path.
func cutLast(path string) (rest, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// CompareVersions orders two versions of images: by their numbers, then by how many there are. A version with something
// that is no number is before every other one, and two of those are alike (Karpenter for Azure: nodeimageversionsclient).
func CompareVersions(a, b string) int {
	ok, ok2 := isVersion(a), isVersion(b)
	switch {
	case !ok && !ok2:
		return 0
	case !ok:
		return -1
	case !ok2:
		return 1
	}
	for {
		var first, second string
		var more, more2 bool
		first, a, more = strings.Cut(a, ".")
		second, b, more2 = strings.Cut(b, ".")
		first, second = strings.TrimLeft(first, "0"), strings.TrimLeft(second, "0")
		if order := cmp.Or(cmp.Compare(len(first), len(second)), strings.Compare(first, second)); order != 0 {
			return order
		}
		if !more || !more2 {
			return cmp.Compare(btoi(more), btoi(more2))
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isVersion reports whether a text is numbers with dots between.
func isVersion(version string) bool {
	for part := range strings.SplitSeq(version, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

// older is the reason against an image that could be taken.
const older = "is older than the one that is taken, or of a definition that comes after it"

// Choose takes the newest version of the most preferred definition that the machine boots. The reasons are those against each
// image that was not taken, in the order of the list.
func (i *Images) Choose(m *launch.Machine) (chosen launch.Image, against []Reason, err error) {
	r := i.remembered
	if r == nil {
		return i.choose(m)
	}
	key := choiceKey{m.Image.Wanted, m.Image.Family, m.Type.Architecture, strings.Join(m.Type.Generations, ","), value(m.Image.FIPS), m.Security.Trusted()}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.all[key]
	if !ok {
		c.chosen, c.against, c.err = i.choose(m)
		r.all[key] = c
	}
	c.chosen.FIPS = m.Image.FIPS
	return c.chosen, c.against, c.err
}

func (i *Images) choose(m *launch.Machine) (chosen launch.Image, against []Reason, err error) {
	chosen = m.Image
	kind := ordinary
	switch isTrusted := m.Security.Trusted(); {
	case value(m.Image.FIPS) && isTrusted:
		kind = trustedFIPS
	case value(m.Image.FIPS):
		kind = withFIPS
	case isTrusted:
		kind = trusted
	}
	suitable := suitable(m.Image.Family, kind, &m.Type)
	if len(suitable) == 0 {
		return chosen, nil, fmt.Errorf("the family %s has no image for %s of generation %s with what is wanted (FIPS %t, trusted launch %t)",
			effective(m.Image.Family), m.Type.Architecture, strings.Join(m.Type.Generations, " or "), value(m.Image.FIPS), m.Security.Trusted())
	}
	best, rank := -1, len(suitable)
	var taken candidate
	notAfter := timeOf(i.Pin.NotAfter)
	other := "is of another definition than " + names(suitable)
	kept := i.kept()
	against = make([]Reason, len(i.Images))
	for n := range i.Images {
		name, version := i.Images[n].parts()
		against[n] = Reason{i.Images[n].ID, older}
		r := slices.IndexFunc(suitable, func(d *definition) bool { return strings.EqualFold(d.name, name) })
		if r < 0 {
			against[n].Reason = other
			continue
		}
		if inUse := kept.version(name); inUse != "" && inUse != version {
			against[n].Reason = "waits for the maintenance window, until which " + inUse + " is taken"
			continue
		}
		c := candidate{i.Images[n].ID, version, timeOf(i.Images[n].Published)}
		if reason := i.Pin.against(&c, i.Images[n].Digest, notAfter); reason != "" {
			against[n].Reason = reason
			continue
		}
		if best < 0 || r < rank || r == rank && c.newer(&taken) {
			best, rank, taken = n, r, c
		}
	}
	if best < 0 {
		return chosen, against, fmt.Errorf("none of the %d images of the list can be taken", len(i.Images))
	}
	chosen.ID = i.Images[best].ID
	chosen.Definition, chosen.Version = i.Images[best].parts()
	chosen.Distribution = suitable[rank].distribution
	return chosen, slices.Delete(against, best, best+1), nil
}

// candidate is a version of an image that could be taken. The time is zero where it is not known.
type candidate struct {
	id, version string
	published   time.Time
}

// timeOf is a time in RFC 3339; zero where there is none.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// newer reports whether an image is newer than another of the same definition: published later where both say so, or else of
// a higher version.
func (c *candidate) newer(than *candidate) bool {
	if !c.published.IsZero() && !than.published.IsZero() {
		if order := c.published.Compare(than.published); order != 0 {
			return order > 0
		}
	}
	if order := CompareVersions(c.version, than.version); order != 0 {
		return order > 0
	}
	return c.id > than.id // the order of the list does not matter
}

// against says why a version with a digest is not allowed. notAfter is the pin's own time.
func (p *Pin) against(c *candidate, digest string, notAfter time.Time) string {
	if p.NotAfter != "" {
		switch {
		case c.published.IsZero():
			return "it is not known when it was published, and only those until " + p.NotAfter + " are allowed"
		case !notAfter.IsZero() && c.published.After(notAfter):
			return "was published after " + p.NotAfter
		}
	}
	switch {
	case p.Version != "" && p.Version != c.version:
		return "is not the version " + p.Version
	case p.Digest != "" && p.Digest != digest:
		return "does not have the digest that is wanted"
	case len(p.Allowed) > 0 && !slices.Contains(p.Allowed, c.version):
		return "is not one of the versions that are allowed"
	}
	return ""
}

// suitable are the definitions of a family that an instance type boots.
func suitable(family string, kind kindOfImage, t *launch.InstanceType) []*definition {
	var found []*definition
	for i := range definitions {
		d := &definitions[i]
		if d.family == family && d.kind == kind && d.architecture == t.Architecture && slices.Contains(t.Generations, d.generation) {
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

// imageRule chooses the image.
func imageRule(images *Images) launch.Rule {
	return launch.Rule{
		Name: "image", Reads: imageReads, Sets: imageSets,
		Run: func(d *launch.Document) []nodeconfig.Problem {
			p := new(problems)
			t := &d.Machine.Type
			switch {
			case d.Machine.Image.Family == "": // said already
			case t.Architecture == "" || len(t.Generations) == 0:
				p.add(true, nodeconfig.Missing, "$.machine.type", "does not say architecture and generation, and the image depends on them")
			case images == nil:
				p.add(true, nodeconfig.Missing, "$.machine.image", "cannot be chosen: no list of images is given")
			default:
				chosen, _, err := images.Choose(&d.Machine)
				if err != nil {
					p.wrong("$.machine.image", err.Error())
				}
				d.Machine.Image = chosen
			}
			return p.list
		},
	}
}
