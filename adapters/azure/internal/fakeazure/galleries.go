package fakeazure

import (
	"maps"
	"net/http"
	"slices"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	compute "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7/fake"
)

// notFound is Azure's error code if a region lacks a resource.
const notFound = "ResourceNotFound"

// definitions are the names of a gallery's definitions, sorted.
func definitions(g Gallery) []string { return slices.Sorted(maps.Keys(g)) }

// paged splits versions into pages.
func (c *Cloud) paged(all []Version) [][]Version {
	size := c.PageSize
	if size == 0 {
		size = max(len(all), 1)
	}
	return pages(slices.Collect(slices.Chunk(all, size)))
}

// galleries are the fake servers of all kinds of galleries.
func (c *Cloud) galleries() *compute.ServerFactory {
	return &compute.ServerFactory{
		CommunityGalleryImagesServer:        compute.CommunityGalleryImagesServer{NewListPager: c.communityImages},
		CommunityGalleryImageVersionsServer: compute.CommunityGalleryImageVersionsServer{NewListPager: c.communityVersions},
		SharedGalleryImagesServer:           compute.SharedGalleryImagesServer{NewListPager: c.sharedImages},
		SharedGalleryImageVersionsServer:    compute.SharedGalleryImageVersionsServer{NewListPager: c.sharedVersions},
		GalleryImagesServer:                 compute.GalleryImagesServer{NewListByGalleryPager: c.ownImages},
		GalleryImageVersionsServer:          compute.GalleryImageVersionsServer{NewListByGalleryImagePager: c.ownVersions},
	}
}

func (c *Cloud) communityImages(location, name string, _ *armcompute.CommunityGalleryImagesClientListOptions) (answer azfake.PagerResponder[armcompute.CommunityGalleryImagesClientListResponse]) {
	g, ok := c.Galleries[location+"/"+name]
	if !ok {
		answer.AddResponseError(http.StatusNotFound, notFound)
		return answer
	}
	var page armcompute.CommunityGalleryImagesClientListResponse
	for _, definition := range definitions(g) {
		page.Value = append(page.Value, &armcompute.CommunityGalleryImage{Name: &definition})
	}
	answer.AddPage(http.StatusOK, page, nil)
	return answer
}

func (c *Cloud) communityVersions(location, name, definition string, _ *armcompute.CommunityGalleryImageVersionsClientListOptions) (answer azfake.PagerResponder[armcompute.CommunityGalleryImageVersionsClientListResponse]) {
	for _, some := range c.paged(c.Galleries[location+"/"+name][definition]) {
		var page armcompute.CommunityGalleryImageVersionsClientListResponse
		for _, v := range some {
			one := &armcompute.CommunityGalleryImageVersion{Name: &v.Name}
			if !v.Published.IsZero() || v.Excluded {
				one.Properties = &armcompute.CommunityGalleryImageVersionProperties{PublishedDate: &v.Published, ExcludeFromLatest: &v.Excluded}
			}
			page.Value = append(page.Value, one)
		}
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}

func (c *Cloud) sharedImages(location, name string, _ *armcompute.SharedGalleryImagesClientListOptions) (answer azfake.PagerResponder[armcompute.SharedGalleryImagesClientListResponse]) {
	g, ok := c.Galleries[location+"/"+name]
	if !ok {
		answer.AddResponseError(http.StatusNotFound, notFound)
		return answer
	}
	var page armcompute.SharedGalleryImagesClientListResponse
	for _, definition := range definitions(g) {
		page.Value = append(page.Value, &armcompute.SharedGalleryImage{Name: &definition})
	}
	answer.AddPage(http.StatusOK, page, nil)
	return answer
}

func (c *Cloud) sharedVersions(location, name, definition string, _ *armcompute.SharedGalleryImageVersionsClientListOptions) (answer azfake.PagerResponder[armcompute.SharedGalleryImageVersionsClientListResponse]) {
	for _, some := range c.paged(c.Galleries[location+"/"+name][definition]) {
		var page armcompute.SharedGalleryImageVersionsClientListResponse
		for _, v := range some {
			page.Value = append(page.Value, &armcompute.SharedGalleryImageVersion{
				Name: &v.Name, Properties: &armcompute.SharedGalleryImageVersionProperties{PublishedDate: &v.Published, ExcludeFromLatest: &v.Excluded},
			})
		}
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}

func (c *Cloud) ownImages(group, name string, _ *armcompute.GalleryImagesClientListByGalleryOptions) (answer azfake.PagerResponder[armcompute.GalleryImagesClientListByGalleryResponse]) {
	g, ok := c.Galleries[group+"/"+name]
	if !ok {
		answer.AddResponseError(http.StatusNotFound, notFound)
		return answer
	}
	var page armcompute.GalleryImagesClientListByGalleryResponse
	for _, definition := range definitions(g) {
		page.Value = append(page.Value, &armcompute.GalleryImage{Name: &definition})
	}
	answer.AddPage(http.StatusOK, page, nil)
	return answer
}

func (c *Cloud) ownVersions(group, name, definition string, _ *armcompute.GalleryImageVersionsClientListByGalleryImageOptions) (answer azfake.PagerResponder[armcompute.GalleryImageVersionsClientListByGalleryImageResponse]) {
	for _, some := range c.paged(c.Galleries[group+"/"+name][definition]) {
		var page armcompute.GalleryImageVersionsClientListByGalleryImageResponse
		for _, v := range some {
			profile := &armcompute.GalleryImageVersionPublishingProfile{PublishedDate: &v.Published, ExcludeFromLatest: &v.Excluded}
			for _, region := range v.Regions {
				profile.TargetRegions = append(profile.TargetRegions, &armcompute.TargetRegion{Name: &region})
			}
			page.Value = append(page.Value, &armcompute.GalleryImageVersion{Name: &v.Name, Properties: &armcompute.GalleryImageVersionProperties{
				PublishingProfile: profile, ProvisioningState: &v.State,
			}})
		}
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}
