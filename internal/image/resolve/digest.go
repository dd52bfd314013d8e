package resolve

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

// digest returns what is known of a file's digest before it comes: from the document, the maker's list, or the earlier lock. It is
// empty if nothing is known.
func (c *component) digest(ctx context.Context, values spec.Values, sources []string) (string, error) {
	if sum := c.whole.SHA256[values.Arch]; sum != "" {
		return sum, nil
	}
	if c.whole.Checksums != "" {
		list := values.Expand(c.whole.Checksums)
		data, err := c.Document(ctx, list)
		if err != nil {
			return "", fmt.Errorf("checksums: %w", err)
		}
		sum, ok := sumOf(data, sources)
		if !ok {
			return "", fmt.Errorf("checksums: %s has no SHA-256 of %s", list, baseName(sources[0]))
		}
		return sum, nil
	}
	if c.previous == nil || c.update || c.previous.Version != values.Version {
		return "", nil
	}
	before := c.previous.For(values.Arch)
	if before == nil || !slices.ContainsFunc(sources, func(s string) bool { return slices.Contains(before.Sources, s) }) {
		return "", nil
	}
	return before.SHA256, nil
}

// sumOf finds the digest of one of the sources in a list: a digest alone, or lines of a digest and a file's name.
func sumOf(data []byte, sources []string) (string, bool) {
	var names []string
	for _, s := range sources {
		names = append(names, baseName(s))
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) == 0 || !spec.IsSHA256(strings.ToLower(fields[0])) {
			continue
		}
		alone := len(fields) == 1 && len(lines) == 1
		if alone || len(fields) == 2 && slices.Contains(names, path.Base(strings.TrimPrefix(fields[1], "*"))) {
			return strings.ToLower(fields[0]), true
		}
	}
	return "", false
}

// baseName is the name of a source's file.
func baseName(source string) string {
	if u, err := url.Parse(source); err == nil && u.Host != "" {
		source = u.Path
	}
	return path.Base(source)
}
