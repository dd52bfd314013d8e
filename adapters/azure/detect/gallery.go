package detect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// Gallery is a gallery of images. [ParseGallery] makes it.
type Gallery struct {
	// id is the gallery's ID, the prefix of its images' IDs.
	id string
	// subscription is where the gallery is read. Empty means the caller's own.
	subscription string
	// group is its resource group. Empty for a community gallery and for one that a tenant shares.
	group, name string
	kind        *galleryKind
}

// String is the gallery's ID.
func (g Gallery) String() string { return g.id }

// AKSGalleries are the community galleries with AKS's images (Karpenter for Azure: imagefamily, community galleries).
func AKSGalleries() []Gallery {
	var all []Gallery
	for _, name := range []string{"AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2", "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b"} {
		all = append(all, Gallery{id: "/CommunityGalleries/" + name, name: name, kind: &community})
	}
	return all
}

// errGallery names the forms of a gallery's ID.
var errGallery = errors.New("is not the ID of a gallery; want /CommunityGalleries/NAME, /SharedGalleries/NAME or " +
	"/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Compute/galleries/NAME")

// ParseGallery parses the ID of a community gallery, of one that is shared with a subscription or tenant, or of the user's own.
func ParseGallery(id string) (Gallery, error) {
	parts := strings.Split(id, "/")
	for _, form := range []struct {
		kind                      *galleryKind
		words                     []string
		subscription, group, name int
	}{
		{&community, []string{"", "CommunityGalleries", "*"}, 0, 0, 2},
		{&shared, []string{"", "SharedGalleries", "*"}, 0, 0, 2},
		{&own, []string{"", "subscriptions", "*", "resourceGroups", "*", "providers", "Microsoft.Compute", "galleries", "*"}, 2, 4, 8},
	} {
		if slices.EqualFunc(parts, form.words, func(part, word string) bool {
			return word == "*" && part != "" || strings.EqualFold(part, word)
		}) {
			for i, word := range form.words {
				if word != "*" {
					parts[i] = word // Azure's spelling: an image has one ID, however the user spells it
				}
			}
			return Gallery{strings.Join(parts, "/"), parts[form.subscription], parts[form.group], parts[form.name], form.kind}, nil
		}
	}
	return Gallery{}, fmt.Errorf("%q %w", id, errGallery)
}

// version is an image version in the region of the request.
type version struct {
	name      string
	published time.Time
}

// galleryKind is how a kind of gallery is read. Versions that are excluded from "latest" are not listed: their owner does not want
// them used (Azure: Compute Gallery, excludeFromLatest).
type galleryKind struct {
	definitions     func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery) ([]string, error)
	versions        func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery, definition string) ([]version, error)
	readDefinitions call
	readVersions    call
}

var community = galleryKind{
	definitions: func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery) ([]string, error) {
		pager := f.NewCommunityGalleryImagesClient().NewListPager(location, g.name, nil)
		return collect(ctx, pager, func(page armcompute.CommunityGalleryImagesClientListResponse) []*armcompute.CommunityGalleryImage {
			return page.Value
		}, func(i *armcompute.CommunityGalleryImage) string { return text(i.Name) })
	},
	versions: func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery, definition string) ([]version, error) {
		pager := f.NewCommunityGalleryImageVersionsClient().NewListPager(location, g.name, definition, nil)
		return versionsOf(ctx, pager, func(page armcompute.CommunityGalleryImageVersionsClientListResponse) []*armcompute.CommunityGalleryImageVersion {
			return page.Value
		}, func(v *armcompute.CommunityGalleryImageVersion) (version, bool) {
			if v.Properties == nil {
				return version{name: text(v.Name)}, true
			}
			return version{text(v.Name), when(v.Properties.PublishedDate)}, !isTrue(v.Properties.ExcludeFromLatest)
		})
	},
	readDefinitions: call{&azureItself, "Microsoft.Compute/locations/communityGalleries/images/read", "Reader"},
	readVersions:    call{&azureItself, "Microsoft.Compute/locations/communityGalleries/images/versions/read", "Reader"},
}

var shared = galleryKind{
	definitions: func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery) ([]string, error) {
		pager := f.NewSharedGalleryImagesClient().NewListPager(location, g.name, nil)
		return collect(ctx, pager, func(page armcompute.SharedGalleryImagesClientListResponse) []*armcompute.SharedGalleryImage {
			return page.Value
		}, func(i *armcompute.SharedGalleryImage) string { return text(i.Name) })
	},
	versions: func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery, definition string) ([]version, error) {
		pager := f.NewSharedGalleryImageVersionsClient().NewListPager(location, g.name, definition, nil)
		return versionsOf(ctx, pager, func(page armcompute.SharedGalleryImageVersionsClientListResponse) []*armcompute.SharedGalleryImageVersion {
			return page.Value
		}, func(v *armcompute.SharedGalleryImageVersion) (version, bool) {
			if v.Properties == nil {
				return version{name: text(v.Name)}, true
			}
			return version{text(v.Name), when(v.Properties.PublishedDate)}, !isTrue(v.Properties.ExcludeFromLatest)
		})
	},
	readDefinitions: call{&azureItself, "Microsoft.Compute/locations/sharedGalleries/images/read", "Reader"},
	readVersions:    call{&azureItself, "Microsoft.Compute/locations/sharedGalleries/images/versions/read", "Reader"},
}

var own = galleryKind{
	definitions: func(ctx context.Context, f *armcompute.ClientFactory, _ string, g Gallery) ([]string, error) {
		pager := f.NewGalleryImagesClient().NewListByGalleryPager(g.group, g.name, nil)
		return collect(ctx, pager, func(page armcompute.GalleryImagesClientListByGalleryResponse) []*armcompute.GalleryImage {
			return page.Value
		}, func(i *armcompute.GalleryImage) string { return text(i.Name) })
	},
	versions: func(ctx context.Context, f *armcompute.ClientFactory, location string, g Gallery, definition string) ([]version, error) {
		pager := f.NewGalleryImageVersionsClient().NewListByGalleryImagePager(g.group, g.name, definition, nil)
		return versionsOf(ctx, pager, func(page armcompute.GalleryImageVersionsClientListByGalleryImageResponse) []*armcompute.GalleryImageVersion {
			return page.Value
		}, func(v *armcompute.GalleryImageVersion) (version, bool) { return ownVersion(v, location) })
	},
	readDefinitions: call{&azureItself, "Microsoft.Compute/galleries/images/read", "Reader"},
	readVersions:    call{&azureItself, "Microsoft.Compute/galleries/images/versions/read", "Reader"},
}

// ownVersion is a version of the user's own gallery, which lists versions for all regions. It is usable in the regions it is
// replicated to.
func ownVersion(v *armcompute.GalleryImageVersion, location string) (version, bool) {
	p := v.Properties
	if p == nil || p.PublishingProfile == nil || p.ProvisioningState == nil || *p.ProvisioningState != armcompute.GalleryProvisioningStateSucceeded {
		return version{}, false
	}
	for _, region := range p.PublishingProfile.TargetRegions {
		if region != nil && strings.EqualFold(strings.ReplaceAll(text(region.Name), " ", ""), location) { // "East US" is eastus
			excluded := isTrue(p.PublishingProfile.ExcludeFromLatest) || isTrue(region.ExcludeFromLatest)
			return version{text(v.Name), when(p.PublishingProfile.PublishedDate)}, !excluded
		}
	}
	return version{}, false
}

// versionsOf collects the usable versions of all pages.
func versionsOf[Page, Item any](ctx context.Context, pager *runtime.Pager[Page], items func(Page) []*Item, take func(*Item) (version, bool)) ([]version, error) {
	var all []version
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range items(page) {
			if item == nil {
				continue
			}
			if v, ok := take(item); ok {
				all = append(all, v)
			}
		}
	}
	return all, nil
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func isTrue(b *bool) bool { return b != nil && *b }
