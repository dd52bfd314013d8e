package explain

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/facts"
)

// Tag finds a tag of a machine's that changes an AKS node, by its name in any case of its letters.
func Tag(name string) (facts.Tag, bool) {
	i := slices.IndexFunc(facts.KnownTags, func(t facts.Tag) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return facts.Tag{}, false
	}
	return facts.KnownTags[i], true
}

// tagsOf are the tags that change what a field does, which becomes the given fields of the NodeConfig: those of its own, and of
// what is in it.
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
