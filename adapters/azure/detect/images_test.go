package detect_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
	"github.com/slipway-dev/slipway/launch/azure"
)

func timeout(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// The galleries of the tests, by their names.
const (
	ubuntu = fakeazure.Ubuntu
	linux  = fakeazure.Linux
	shared = "11111111-1111-1111-1111-111111111111-NODES"
	ownID  = "/subscriptions/77777777-7777-7777-7777-777777777777/resourceGroups/images-rg/providers/Microsoft.Compute/galleries/nodes"
)

// region is a cloud with images in all kinds of galleries.
func region(t testing.TB) *fakeazure.Cloud {
	t.Helper()
	c := cloud(t)
	c.Galleries["eastus/"+shared] = fakeazure.Gallery{"2404gen2arm64containerd": {
		{Name: "1.2.3", Published: fakeazure.Day(9, 11)}, {Name: "1.2.4", Published: fakeazure.Day(9, 12), Excluded: true},
	}}
	const made = armcompute.GalleryProvisioningStateSucceeded
	c.Galleries["images-rg/nodes"] = fakeazure.Gallery{"2404gen2containerd": {
		{Name: "1.0.0", Published: fakeazure.Day(5, 1), Regions: []string{"West Europe", "East US"}, State: made},
		{Name: "1.1.0", Published: fakeazure.Day(6, 1), Regions: []string{"West Europe"}, State: made},
		{Name: "1.2.0", Published: fakeazure.Day(7, 1), Regions: []string{"East US"}, State: armcompute.GalleryProvisioningStateCreating},
		{Name: "1.3.0", Published: fakeazure.Day(8, 1), Regions: []string{"eastus"}, State: made, Excluded: true},
		{Name: "1.4.0", Published: fakeazure.Day(9, 1), Regions: []string{"eastus"}, State: made},
	}}
	return c
}

// galleries parses several IDs.
func galleries(t testing.TB, ids ...string) []detect.Gallery {
	t.Helper()
	var all []detect.Gallery
	for _, id := range ids {
		g, err := detect.ParseGallery(id)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// All kinds of galleries in one list, in pages of two.
func TestImages(t *testing.T) {
	c := region(t)
	all := append(detect.AKSGalleries(), galleries(t, "/sharedGalleries/"+shared, ownID)...)
	list, err := ask(c).Images(t.Context(), subscription, "eastus", all...)
	if err != nil {
		t.Fatal(err)
	}
	readable(t, list, imageList)
	golden(t, "images.json", list)
	for _, path := range c.Asked() {
		if wantOwn := strings.Contains(path, "/galleries/"); strings.HasPrefix(path, "/subscriptions/77777777-") != wantOwn {
			t.Errorf("%s was asked for: one's own gallery is asked in its subscription, the others in the asker's", path)
		}
		if strings.Contains(path, "1804gen2containerd") {
			t.Errorf("%s was asked for, and no launch takes it", path)
		}
	}
}

// A launch chooses from the list.
func TestImagesAreChosen(t *testing.T) {
	list, err := ask(region(t)).Images(t.Context(), subscription, "eastus", detect.AKSGalleries()...)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range list.Images {
		ids = append(ids, i.ID)
	}
	const newest = "/CommunityGalleries/" + ubuntu + "/images/2404gen2containerd/versions/202611.05.0"
	if !slices.Contains(ids, newest) || slices.ContainsFunc(ids, func(id string) bool { return strings.HasSuffix(id, "202610.01.0") }) {
		t.Errorf("%q", ids)
	}
}

// A region without images is an error for each gallery, and the others are listed.
func TestRegionWithoutImages(t *testing.T) {
	for _, c := range []struct {
		location string
		ids      []string
		without  []string
		images   int
	}{
		{"westus", []string{"/CommunityGalleries/" + ubuntu, "/CommunityGalleries/" + linux}, []string{ubuntu, linux}, 0}, // missing, and without versions
		{"eastus", []string{"/CommunityGalleries/" + linux, "/SharedGalleries/none"}, []string{"/SharedGalleries/none"}, 2},
		{"northeurope", []string{ownID}, []string{ownID}, 0},
	} {
		list, err := ask(region(t)).Images(t.Context(), subscription, c.location, galleries(t, c.ids...)...)
		if len(list.Images) != c.images || len(flat(err)) != len(c.without) {
			t.Errorf("%s: %d images, %v", c.location, len(list.Images), err)
			continue
		}
		readable(t, list, imageList)
		for i, one := range flat(err) {
			without, ok := errors.AsType[*detect.RegionError](one)
			if !ok || !strings.Contains(without.Gallery, c.without[i]) || without.Location != c.location {
				t.Errorf("%s: %v, want that %s has no images there", c.location, one, c.without[i])
			}
		}
	}
}

// A missing right for one gallery does not hide the images of the others.
func TestGalleryIsRefused(t *testing.T) {
	for call, action := range map[string]string{
		"CommunityGalleryImagesClient.NewListPager":             "Microsoft.Compute/locations/communityGalleries/images/read",
		"CommunityGalleryImageVersionsClient.NewListPager":      "Microsoft.Compute/locations/communityGalleries/images/versions/read",
		"SharedGalleryImagesClient.NewListPager":                "Microsoft.Compute/locations/sharedGalleries/images/read",
		"SharedGalleryImageVersionsClient.NewListPager":         "Microsoft.Compute/locations/sharedGalleries/images/versions/read",
		"GalleryImagesClient.NewListByGalleryPager":             "Microsoft.Compute/galleries/images/read",
		"GalleryImageVersionsClient.NewListByGalleryImagePager": "Microsoft.Compute/galleries/images/versions/read",
	} {
		c := region(t)
		c.Answers[call] = []fakeazure.Answer{{Status: http.StatusForbidden, Code: "AuthorizationFailed"}}
		list, err := ask(c).Images(t.Context(), subscription, "eastus", galleries(t, "/CommunityGalleries/"+linux, "/SharedGalleries/"+shared, ownID)...)
		right, ok := errors.AsType[*detect.RightError](err)
		if !ok || right.Action != action || right.Role != "Reader" || len(flat(err)) != 1 {
			t.Errorf("%s: %v", call, err)
		}
		if len(list.Images) == 0 {
			t.Errorf("%s: the other galleries are not listed", call)
		}
	}
}

// A page in the middle that is throttled is read again after the time that Azure asks for. If Azure never answers, there is one
// error, and no other gallery is read.
func TestGalleryIsThrottled(t *testing.T) {
	const call = "CommunityGalleryImageVersionsClient.NewListPager"
	synctest.Test(t, func(t *testing.T) {
		c := region(t)
		c.Answers[call] = []fakeazure.Answer{busy(40)}
		begin := time.Now()
		list, err := ask(c).Images(t.Context(), subscription, "eastus", detect.AKSGalleries()...)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "images-aks.json", list)
		if waited := time.Since(begin); waited != 40*time.Second {
			t.Errorf("it has waited %s", waited)
		}
	})
	c := region(t)
	c.Answers[call] = []fakeazure.Answer{busy(600)}
	list, err := ask(c).Images(t.Context(), subscription, "eastus", detect.AKSGalleries()...)
	if throttled, ok := errors.AsType[*detect.ThrottledError](err); !ok || throttled.After != 10*time.Minute || len(flat(err)) != 1 || len(list.Images) != 0 {
		t.Errorf("%d images, %v", len(list.Images), err)
	}
	for _, path := range c.Asked() {
		if strings.Contains(path, linux) {
			t.Errorf("%s was asked for, although Azure takes no more", path)
		}
	}
}

// Galleries' IDs are accepted in any spelling.
func TestParseGallery(t *testing.T) {
	for id, want := range map[string]string{
		"/communitygalleries/X": "/CommunityGalleries/X",
		"/SHAREDGALLERIES/x-Y":  "/SharedGalleries/x-Y",
		ownID:                   ownID,
		"/Subscriptions/a/resourcegroups/B/Providers/microsoft.compute/Galleries/c": "/subscriptions/a/resourceGroups/B/providers/Microsoft.Compute/galleries/c",
		"":                               "",
		"X":                              "",
		"/CommunityGalleries/":           "",
		"/CommunityGalleries/X/images/y": "",
		"/subscriptions/a/resourceGroups/b/providers/Microsoft.Compute/galleries": "",
	} {
		g, err := detect.ParseGallery(id)
		if got := g.String(); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", id, got, err, want)
		}
	}
	var all []string
	for _, g := range detect.AKSGalleries() {
		again, err := detect.ParseGallery(g.String())
		if err != nil || again.String() != g.String() {
			t.Errorf("%s: %v", g, err)
		}
		all = append(all, g.String())
	}
	if !slices.Equal(all, []string{"/CommunityGalleries/" + ubuntu, "/CommunityGalleries/" + linux}) {
		t.Errorf("AKS's galleries are %q", all)
	}
}

// An empty list is valid.
func TestNoGalleries(t *testing.T) {
	list, err := ask(region(t)).Images(t.Context(), subscription, "eastus")
	if err != nil || list.Images == nil || list.Time != "2026-11-25T12:00:00Z" || list.Kind != azure.ImagesKind {
		t.Errorf("%+v, %v", list, err)
	}
}
