package azure

import (
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
)

// imageRow is the field for an image's ID, by the ID's prefix.
type imageRow struct {
	prefix string
	field  func(*armcompute.ImageReference) **string
}

// imageRows choose the field (Azure: Virtual Machines, ImageReference).
var imageRows = []imageRow{
	{"/communitygalleries/", func(r *armcompute.ImageReference) **string { return &r.CommunityGalleryImageID }},
	{"/sharedgalleries/", func(r *armcompute.ImageReference) **string { return &r.SharedGalleryImageID }},
	{"/subscriptions/", func(r *armcompute.ImageReference) **string { return &r.ID }},
}

// imageReference returns the reference to an image by its ID.
func imageReference(id string) (*armcompute.ImageReference, error) {
	for _, row := range imageRows {
		if strings.HasPrefix(strings.ToLower(id), row.prefix) {
			r := new(armcompute.ImageReference)
			*row.field(r) = &id
			return r, nil
		}
	}
	return nil, errors.New("$.machine.image.id: is not the ID of an image; want one that begins with /CommunityGalleries/, /SharedGalleries/ or /subscriptions/")
}
