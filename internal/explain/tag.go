package explain

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
)

// Tag finds a machine's tag that changes an AKS node, by its name in any case.
func Tag(name string) (facts.Tag, bool) {
	i := slices.IndexFunc(facts.KnownTags, func(t facts.Tag) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return facts.Tag{}, false
	}
	return facts.KnownTags[i], true
}

// tagsOf are the tags that change the effect of a field, which becomes the given fields of the NodeConfig, or of a
// field nested in it.
func tagsOf(field string, becomes []string) (tags []facts.Tag) {
	paths := append([]string{field}, becomes...)
	for _, tag := range facts.KnownTags {
		of := func(setting string) bool {
			return slices.ContainsFunc(paths, func(path string) bool { return document.Within(setting, path) })
		}
		if slices.ContainsFunc(tag.Settings, of) {
			tags = append(tags, tag)
		}
	}
	return tags
}
