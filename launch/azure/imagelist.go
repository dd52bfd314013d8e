package azure

import (
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/versions"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Images are the images that a region has, and which of them are allowed.
type Images struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Images     []ImageVersion `json:"images"`
	Pin        Pin            `json:"pin,omitzero"`
	// Definitions are those of images of one's own, the preferred one first. The family Custom takes them, and no other.
	Definitions []OwnDefinition `json:"definitions,omitempty"`
	// Time is when the list was made, in RFC 3339.
	Time string `json:"time,omitempty"`
	// InUse are the versions that nodes of the class have, by their IDs. Outside the maintenance window their definitions keep them,
	// also when the list has them no more; a definition that is not among them gets its newest. Empty for a new class, and after an
	// upgrade of Kubernetes.
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
	galleries                                 string
}

type choice struct {
	chosen  launch.Image
	against []Reason
	err     error
}

// Remember makes [Images.Choose] cache its results, so that it searches a long list once for each kind of machine. The caller must not
// change the list after that. [ReadImages] calls Remember.
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
	// Published is the publishing time, in RFC 3339. Empty means unknown.
	Published string `json:"published,omitempty"`
	// Digest is the digest of the image's content. Empty means unknown.
	Digest string `json:"digest,omitempty"`
}

// Pin restricts the versions that can be chosen. All fields that are set count.
type Pin struct {
	// Version is the only allowed version: "202608.12.0".
	Version string `json:"version,omitempty"`
	// NotAfter is a time in RFC 3339. Versions published later are not allowed.
	NotAfter string `json:"notAfter,omitempty"`
	// Digest is the digest of the only allowed image.
	Digest string `json:"digest,omitempty"`
	// Allowed are the versions that may be taken.
	Allowed []string `json:"allowed,omitempty"`
}

// Reason is why an image was not chosen.
type Reason struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// ReadImages reads a list of images, YAML or JSON. Every problem is returned.
func ReadImages(data []byte) (*Images, []nodeconfig.Problem) {
	i := new(Images)
	p := problems{problem.Collector{List: launch.Read(data, nodeconfig.APIVersion, ImagesKind, i)}}
	for n := range i.Images {
		at := document.IndexPath("$.images", n)
		if !isImage(i.Images[n].ID) {
			p.wrong(at+".id", "is not the ID of an image's version, which ends in images/DEFINITION/versions/VERSION")
		}
		p.time(at+".published", i.Images[n].Published)
	}
	p.definitions(i.Definitions)
	p.time("$.pin.notAfter", i.Pin.NotAfter)
	i.window(&p)
	nodeconfig.SortProblems(p.List)
	i.Remember()
	return i, p.List
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
		p.Report(true, nodeconfig.Missing, "$.maintenance", "has one end alone; give start and end, or neither")
	case i.Time == "":
		p.Report(true, nodeconfig.Missing, "$.time", "is missing; it decides whether the maintenance window is open")
	case timeOf(m.End).Before(timeOf(m.Start)):
		p.wrong("$.maintenance.end", "is before the start")
	}
}

// isOpen reports whether newer versions may be taken.
func (i *Images) isOpen() bool {
	if i.Maintenance == nil {
		return true
	}
	now := timeOf(i.Time)
	return !now.Before(timeOf(i.Maintenance.Start)) && now.Before(timeOf(i.Maintenance.End))
}

func (p *problems) time(path, text string) {
	if _, err := time.Parse(time.RFC3339, text); text != "" && err != nil {
		p.wrong(path, "want a time such as 2026-08-12T00:00:00Z")
	}
}

// timeOf parses a time in RFC 3339. If the text is not such a time, it returns the zero time.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
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
	return versions.CompareNumbers(a, b)
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
