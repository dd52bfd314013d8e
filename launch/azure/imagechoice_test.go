package azure

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
)

// amd64Machine boots both generations.
func amd64Machine(family string) *launch.Machine {
	return &launch.Machine{Image: launch.Image{Family: family}, Type: launch.InstanceType{Architecture: "amd64", Generations: []string{"1", "2"}}}
}

// imageID is a version's in a gallery.
func imageID(gallery, definition, version string) string {
	return "/CommunityGalleries/" + gallery + "/images/" + definition + "/versions/" + version
}

// Before the maintenance window a definition keeps the version that is in use, also when the list has it no more; another definition
// gets its newest (Karpenter for Azure: nodeclass status, images).
func TestMaintenance(t *testing.T) {
	list := func(inUse ...string) *Images {
		return &Images{
			Time: "2026-11-25T12:00:00Z", Maintenance: &Maintenance{Start: "2026-11-28T00:00:00Z", End: "2026-11-28T04:00:00Z"}, InUse: inUse,
			Images: []ImageVersion{
				{ID: imageID("G", "2404gen2containerd", "202608.12.0")}, {ID: imageID("G", "2404gen2containerd", "202609.10.0")},
				{ID: imageID("G", "2404containerd", "202609.10.0")},
			},
		}
	}
	for _, c := range []struct {
		images *Images
		want   string
	}{
		{list(), "2404gen2containerd 202609.10.0"},
		{list(imageID("G", "2404gen2containerd", "202608.12.0")), "2404gen2containerd 202608.12.0"},
		{list(imageID("G", "2404gen2containerd", "202601.01.0")), "2404gen2containerd 202601.01.0"},
		{list(imageID("Other", "2404GEN2containerd", "202601.01.0")), "2404GEN2containerd 202601.01.0"},
		{list(imageID("G", "2404gen2containerd", "202601.01.0"), imageID("G", "2404gen2containerd", "202602.01.0")), "2404gen2containerd 202602.01.0"},
		{list(imageID("G", "2404gen2containerd", "202602.01.0"), imageID("G", "2404gen2containerd", "202601.01.0")), "2404gen2containerd 202602.01.0"},
		{list(imageID("Other", "2404gen2containerd", "202608.12.0")), "2404gen2containerd 202608.12.0"},
		{list(imageID("G", "2404containerd", "202601.01.0")), "2404gen2containerd 202609.10.0"},
	} {
		chosen, against, err := c.images.Choose(amd64Machine(ubuntu2404), nil)
		if got := chosen.Definition + " " + chosen.Version; got != c.want || err != nil {
			t.Errorf("%v in use: %s, %v, want %s", c.images.InUse, got, err, c.want)
		}
		for _, r := range against {
			if r.ID == chosen.ID || r.Reason == "" {
				t.Errorf("%v in use: a reason against %+v", c.images.InUse, r)
			}
		}
	}
	gone := list(imageID("G", "2404gen2containerd", "202601.01.0"))
	chosen, against, _ := gone.Choose(amd64Machine(ubuntu2404), nil)
	if chosen.ID != gone.InUse[0] || len(against) != len(gone.Images) {
		t.Errorf("%s, with %d reasons for %d images", chosen.ID, len(against), len(gone.Images))
	}
}

// The order of the list does not matter, even if the publishing time of some images is unknown.
func TestChoiceHasNoOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	some := func(from ...string) string { return from[random.Intn(len(from))] }
	for range 3000 {
		var images Images
		for range 2 + random.Intn(5) {
			images.Images = append(images.Images, ImageVersion{
				ID:        imageID(some("G", "H"), some("2404gen2containerd", "2404containerd"), some("1.0", "2.0", "2.0.0", "03.0", "x", "y")),
				Published: some("", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00"),
			})
		}
		if random.Intn(2) == 0 {
			images.Time, images.Maintenance = "2026-01-01T00:00:00Z", &Maintenance{Start: "2026-02-01T00:00:00Z", End: "2026-02-02T00:00:00Z"}
			for range random.Intn(4) {
				images.InUse = append(images.InUse, imageID(some("G", "I"), some("2404gen2containerd", "2404containerd"), some("1.0", "0.5")))
			}
		}
		before := fmt.Sprintf("%+v", images)
		first, _, err := images.Choose(amd64Machine(ubuntu2404), nil)
		for range 6 {
			random.Shuffle(len(images.Images), func(i, j int) { images.Images[i], images.Images[j] = images.Images[j], images.Images[i] })
			random.Shuffle(len(images.InUse), func(i, j int) { images.InUse[i], images.InUse[j] = images.InUse[j], images.InUse[i] })
			again, _, err2 := images.Choose(amd64Machine(ubuntu2404), nil)
			if again.ID != first.ID || (err == nil) != (err2 == nil) {
				t.Fatalf("%s: %s, %v, and in another order %s, %v", before, first.ID, err, again.ID, err2)
			}
		}
	}
}

// If no image can be used, the error lists a few images, each with the reason.
func TestNoImage(t *testing.T) {
	long := region(Pin{Version: "1.0.0"})
	for _, c := range []struct {
		images *Images
		family string
		want   []string
	}{
		{&Images{}, ubuntu2404, []string{"the list is empty"}},
		{long, ubuntu2404, []string{
			fmt.Sprintf("none of the %d images", len(long.Images)), "2404gen2containerd 202601.01.0 is not the version 1.0.0; 2404gen2containerd 202602.01.0 is not",
			fmt.Sprintf("and %d more", len(long.Images)-4),
		}},
		{&Images{Images: long.Images[:1]}, ubuntu2404, []string{"2204gen2containerd 202601.01.0 is of another definition than 2404gen2containerd and 2404containerd"}},
		{&Images{Images: long.Images[:2]}, ubuntu2004, []string{"family Ubuntu has no image for amd64 of generation 1 or 2", "the list has 2204gen2containerd 202601.01.0, 2204gen2containerd 202602.01.0"}},
		{&Images{}, ubuntu2004, []string{"the list has no images"}},
		{&Images{Images: []ImageVersion{{ID: imageID("G", strings.Repeat("x", 1<<20), "1")}}}, ubuntu2404, []string{"one with a long name is of another definition"}},
	} {
		_, against, err := c.images.Choose(amd64Machine(c.family), nil)
		if err == nil || len(err.Error()) > 1000 || len(against) != len(c.images.Images) {
			t.Errorf("%v, with %d reasons for %d images", err, len(against), len(c.images.Images))
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
