package azure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/launch"
)

// older is the reason against an image that could be taken.
const older = "is older than the one that is taken, or of a definition that comes after it"

// Choose returns the newest version of the most preferred definition that the machine boots. The order of the list does not matter.
// against has a reason for each image that was not chosen, in the order of the list. If the setting use-sig is set, the image is from
// AKS's own galleries, except for the family Custom. settings may be nil.
func (i *Images) Choose(m *launch.Machine, settings *Settings) (chosen launch.Image, against []Reason, err error) {
	galleries := settings.galleries(m)
	r := i.remembered
	if r == nil {
		return i.choose(m, galleries)
	}
	key := choiceKey{m.Image.Wanted, m.Image.Family, m.Type.Architecture, strings.Join(m.Type.Generations, ","), value(m.Image.FIPS), m.Security.Trusted(), galleries}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.all[key]
	if !ok {
		c.chosen, c.against, c.err = i.choose(m, galleries)
		r.all[key] = c
	}
	c.chosen.FIPS = m.Image.FIPS
	return c.chosen, c.against, c.err
}

// galleries returns the required beginning of image IDs. Empty means any gallery (Karpenter for Azure: NodeImageProvider, USE_SIG).
func (s *Settings) galleries(m *launch.Machine) string {
	if s == nil || !s.UseSIG || m.Image.Family == custom {
		return ""
	}
	return "/subscriptions/" + s.SIGSubscription + "/"
}

func (i *Images) choose(m *launch.Machine, galleries string) (chosen launch.Image, against []Reason, err error) {
	chosen = m.Image
	c := chooser{suitable: i.suitable(m), galleries: galleries, inUse: i.kept(), pin: &i.Pin, notAfter: timeOf(i.Pin.NotAfter)}
	if c.other = "is of another definition than " + names(c.suitable); len(c.suitable) == 0 {
		c.other = "is of no definition that the machine can have"
	}
	against, c.possible = make([]Reason, len(i.Images)), make([]candidate, 0, len(i.Images))
	for n := range i.Images {
		against[n] = Reason{i.Images[n].ID, cmp.Or(c.consider(&i.Images[n], n), older)}
	}
	for _, id := range i.unlisted() {
		c.consider(&ImageVersion{ID: id}, notListed)
	}
	switch {
	case len(c.suitable) == 0:
		return chosen, against, fmt.Errorf("the family %s has no image for %s of generation %s with what is wanted (FIPS %t, trusted launch %t); the list has %s",
			effective(m.Image.Family), m.Type.Architecture, strings.Join(m.Type.Generations, " or "), value(m.Image.FIPS), m.Security.Trusted(), listed(i.Images))
	case len(c.possible) == 0:
		return chosen, against, errors.New(refusal(against, c.other))
	}
	newest := c.newest()
	chosen.ID = newest.id
	chosen.Definition, chosen.Version = (&ImageVersion{ID: newest.id}).parts()
	chosen.Distribution = c.suitable[newest.rank].distribution
	if newest.at != notListed {
		against = slices.Delete(against, newest.at, newest.at+1)
	}
	return chosen, against, nil
}

// notListed is the index of a version that is in use and not in the list.
const notListed = -1

// chooser takes one of the versions that it considers.
type chooser struct {
	suitable []*definition
	// galleries is the required beginning of an ID. Empty means any gallery.
	galleries string
	// other is the reason against an image of another definition.
	other string
	inUse versionsInUse
	pin   *Pin
	// notAfter is the pin's own time.
	notAfter time.Time
	// possible are the versions that can be taken, of the most preferred definition so far.
	possible []candidate
}

// candidate is a version of an image that can be taken, of the definition at rank in suitable, with its place in the list. The time is zero if
// it is not known.
type candidate struct {
	id, version string
	published   time.Time
	rank, at    int
}

// consider returns why a version cannot be taken. It keeps one that can, and returns "".
func (c *chooser) consider(v *ImageVersion, at int) (against string) {
	name, version := v.parts()
	rank := slices.IndexFunc(c.suitable, func(d *definition) bool { return strings.EqualFold(d.name, name) })
	if rank < 0 {
		return c.other
	}
	if n := len(c.galleries); len(v.ID) < n || !strings.EqualFold(v.ID[:n], c.galleries) {
		return "is in none of AKS's own galleries, which use-sig takes"
	}
	if inUse := c.inUse.of(name); inUse != nil && !slices.Contains(inUse, version) {
		return "waits for the maintenance window, until which " + slices.MaxFunc(inUse, CompareVersions) + " is taken"
	}
	possible := candidate{v.ID, version, timeOf(v.Published), rank, at}
	if reason := c.pin.against(&possible, v.Digest, c.notAfter); reason != "" {
		return reason
	}
	switch order := c.preference(rank); {
	case order > 0:
		return ""
	case order < 0:
		c.possible = c.possible[:0]
	}
	c.possible = append(c.possible, possible)
	return ""
}

// preference compares the definition at a rank with that of the versions so far. It is negative if it is preferred to theirs.
func (c *chooser) preference(rank int) int {
	if len(c.possible) == 0 {
		return 0
	}
	return cmp.Compare(rank, c.possible[0].rank)
}

// newest returns the newest of the possible versions. If the publishing time of any of them is unknown, it compares all of them by name: if
// it compared some by time and some by name, the result would depend on the list's order.
func (c *chooser) newest() candidate {
	undated := slices.ContainsFunc(c.possible, func(v candidate) bool { return v.published.IsZero() })
	return slices.MaxFunc(c.possible, func(a, b candidate) int {
		if order := a.published.Compare(b.published); order != 0 && !undated {
			return order
		}
		return cmp.Or(CompareVersions(a.version, b.version), strings.Compare(a.id, b.id))
	})
}

// against returns the reason why a version with a digest is not allowed. Empty means that it is allowed. notAfter is the pin's time, parsed.
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

// versionsInUse are versions by their definitions, in lower case.
type versionsInUse map[string][]string

// of returns the versions in use of a definition; nil if no version is in use.
func (v versionsInUse) of(name string) []string { return v[strings.ToLower(name)] }

// kept returns the versions in use, if no newer version is allowed now (Karpenter for Azure: nodeclass status, images).
func (i *Images) kept() versionsInUse {
	if i.isOpen() {
		return nil
	}
	kept := make(versionsInUse, len(i.InUse))
	for _, id := range i.InUse {
		name, version := (&ImageVersion{ID: id}).parts()
		kept[strings.ToLower(name)] = append(kept[strings.ToLower(name)], version)
	}
	return kept
}

// unlisted returns the IDs of kept versions that are no longer in the list. Nodes keep using them until the maintenance window.
func (i *Images) unlisted() []string {
	kept := i.kept()
	if len(kept) == 0 {
		return nil
	}
	has := make(map[[2]string]bool)
	for n := range i.Images {
		name, version := i.Images[n].parts()
		if kept.of(name) != nil {
			has[[2]string{strings.ToLower(name), version}] = true
		}
	}
	var missing []string
	for _, id := range i.InUse {
		if name, version := (&ImageVersion{ID: id}).parts(); !has[[2]string{strings.ToLower(name), version}] {
			missing = append(missing, id)
		}
	}
	return missing
}

// Limits of the images that an error lists. A list can have thousands of images, with names of any length.
const (
	mostListed = 4
	mostNamed  = 80 // Azure has no longer name of an image
)

// label is a version for people.
func (v *ImageVersion) label() string {
	name, version := v.parts()
	if label := name + " " + version; len(label) <= mostNamed {
		return label
	}
	return "one with a long name"
}

// listed are the first images of a list.
func listed(images []ImageVersion) string {
	if len(images) == 0 {
		return "no images"
	}
	words := make([]string, 0, mostListed+1)
	for n := range images[:min(len(images), mostListed)] {
		words = append(words, images[n].label())
	}
	return strings.Join(andMore(words, len(images)), ", ")
}

// refusal returns why no image of a list can be used. It lists a few images, those of the right definition first.
func refusal(against []Reason, other string) string {
	if len(against) == 0 {
		return "there is no image: the list is empty"
	}
	words := make([]string, 0, mostListed+1)
	for _, others := range []bool{false, true} {
		for n := range against {
			if r := &against[n]; (r.Reason == other) == others && len(words) < mostListed {
				words = append(words, (&ImageVersion{ID: r.ID}).label()+" "+r.Reason)
			}
		}
	}
	return fmt.Sprintf("none of the %d images of the list can be taken: %s", len(against), strings.Join(andMore(words, len(against)), "; "))
}

// andMore appends how many of all the words leave out.
func andMore(words []string, all int) []string {
	if more := all - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return words
}
