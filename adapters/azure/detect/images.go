package detect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// RegionError: a region has no image of a gallery that a node can use.
type RegionError struct{ Gallery, Location string }

// Error names both.
func (e *RegionError) Error() string {
	return fmt.Sprintf("the region %s has no image of the gallery %s that a node can have; name another gallery, or have its owner copy images to the region", e.Location, e.Gallery)
}

// Images lists a region's images in some galleries: the versions of all definitions that a launch can choose. It always returns a
// list of those that were found. The error has one error for each gallery that could not be read, or that has nothing for the
// region. The order is that of the galleries, of [azure.Images.DefinitionNames], and of the versions, the oldest first.
func (a *Azure) Images(ctx context.Context, subscription, location string, galleries ...Gallery) (*azure.Images, error) {
	list := &azure.Images{APIVersion: nodeconfig.APIVersion, Kind: azure.ImagesKind, Images: []azure.ImageVersion{}, Definitions: a.Definitions, Time: clock(a.Now)}
	var wrong []error
	for _, g := range galleries {
		found, err := a.gallery(ctx, subscription, location, g, list.DefinitionNames())
		list.Images = append(list.Images, found...)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("gallery %s: %w", g, err))
		}
		if _, throttled := errors.AsType[*ThrottledError](err); throttled || ctx.Err() != nil {
			break // the other galleries would be refused as well
		}
	}
	return list, errors.Join(wrong...)
}

// gallery lists the wanted definitions of one gallery. If it fails, it returns what it had found until then.
func (a *Azure) gallery(ctx context.Context, subscription, location string, g Gallery, wanted []string) ([]azure.ImageVersion, error) {
	if g.subscription != "" {
		subscription = g.subscription
	}
	clients, err := armcompute.NewClientFactory(subscription, a.Credential, a.options())
	if err != nil {
		return nil, err
	}
	definitions, err := g.kind.definitions(ctx, clients, location, g)
	switch {
	case isMissing(err):
		return nil, &RegionError{g.id, location}
	case err != nil:
		return nil, g.kind.readDefinitions.explain(err, g.id)
	}
	var found []azure.ImageVersion
	for _, name := range usable(definitions, wanted) {
		versions, err := g.kind.versions(ctx, clients, location, g, name)
		if isMissing(err) {
			continue // this definition is not in the region
		}
		if err != nil {
			return found, g.kind.readVersions.explain(err, g.id+"/images/"+name)
		}
		slices.SortFunc(versions, func(a, b version) int { return azure.CompareVersions(a.name, b.name) })
		for _, v := range versions {
			found = append(found, azure.ImageVersion{ID: g.id + "/images/" + name + "/versions/" + v.name, Published: stamp(v.published)})
		}
	}
	if found == nil {
		return nil, &RegionError{g.id, location}
	}
	return found, nil
}

// usable are the definitions of a gallery that a launch can choose, in the order of wanted.
func usable(definitions, wanted []string) []string {
	var names []string
	for _, known := range wanted {
		if i := slices.IndexFunc(definitions, func(name string) bool { return strings.EqualFold(name, known) }); i >= 0 {
			names = append(names, definitions[i])
		}
	}
	return names
}

// stamp formats a time for the list. It is empty if the time is unknown.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
