package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

// version selects the version: the one of --update, the locked one if it is still wanted, or the newest of the range.
func (c *component) version(ctx context.Context) (string, error) {
	wanted := c.whole.Range
	switch {
	case wanted.One():
		return wanted.String(), nil
	case c.pinned != "":
		return c.pinned, nil
	case c.previous != nil && !c.update && wanted.Has(c.previous.Version):
		return c.previous.Version, nil
	}
	var existing []string
	for i, architecture := range c.whole.Architectures {
		found, err := c.versions(ctx, architecture)
		if err != nil {
			return "", err
		}
		found = slices.DeleteFunc(found, func(v string) bool { return !wanted.Has(v) })
		if i > 0 { // the version must exist for each architecture
			found = slices.DeleteFunc(found, func(v string) bool { return !slices.Contains(existing, v) })
		}
		existing = found
	}
	if len(existing) == 0 {
		where := cmp.Or(c.whole.Versions, strings.Join(c.whole.Sources, ", "))
		return "", fmt.Errorf("%s has no version in %s for %s", where, wanted, strings.Join(c.whole.Architectures, " and "))
	}
	return slices.MaxFunc(existing, spec.Compare), nil
}

// versions lists the existing versions: from the list that the document names, or from the first source that can be listed.
func (c *component) versions(ctx context.Context, architecture string) ([]string, error) {
	values := spec.Values{Name: c.whole.Name, Arch: architecture}
	if c.whole.Versions != "" {
		list := values.Expand(c.whole.Versions)
		data, err := c.Document(ctx, list)
		if err != nil {
			return nil, err
		}
		return wordsOf(data), nil
	}
	var errs []error
	for _, source := range c.whole.Sources {
		var found []string
		var err error
		switch spec.PlaceOf(source) {
		case spec.Web:
			continue
		case spec.Local:
			found, err = c.listed(source, values)
		case spec.Registry:
			found, err = c.tagged(ctx, source, values)
		}
		if err == nil {
			return found, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// word matches a word of a list of versions.
var word = regexp.MustCompile(`[0-9A-Za-z.+~_-]+`)

// wordsOf returns the words of a list that are versions, without a leading v.
func wordsOf(data []byte) (found []string) {
	for _, w := range word.FindAll(data, -1) {
		version := strings.TrimPrefix(string(w), "v")
		if strings.Contains(version, ".") && spec.IsVersion(version) {
			found = append(found, version)
		}
	}
	return found
}

// tagged lists the versions of a registry's tags.
func (c *component) tagged(ctx context.Context, source string, values spec.Values) ([]string, error) {
	repository, tag := spec.TagOf(source)
	if strings.Contains(repository, "{version}") {
		return nil, fmt.Errorf("%s: has the version in the repository's name, so it cannot be listed; name versions", source)
	}
	if c.Client == nil {
		return nil, fmt.Errorf("%s: is a registry, and no server is asked", source)
	}
	tags, err := c.Client.Tags(ctx, []string{values.Expand(repository) + ":latest"})
	if err != nil {
		return nil, err
	}
	match := values.Matcher(tag)
	var found []string
	for _, t := range tags {
		if version, ok := match(t); ok {
			found = append(found, version)
		}
	}
	return found, nil
}

// listed lists the versions of a directory's files.
func (c *component) listed(source string, values spec.Values) ([]string, error) {
	path := filepath.FromSlash(values.Expand(strings.ReplaceAll(source, "{version}", "\x00")))
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	if fixed, _, _ := strings.Cut(path, "\x00"); fixed != "" {
		if _, err := os.Stat(filepath.Dir(fixed)); err != nil {
			return nil, err
		}
	}
	template := strings.ReplaceAll(path, "\x00", "{version}")
	names, err := filepath.Glob(strings.ReplaceAll(path, "\x00", "*"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	match := spec.Values{}.Matcher(template)
	var found []string
	for _, name := range names {
		if version, ok := match(name); ok {
			found = append(found, version)
		}
	}
	return found, nil
}
