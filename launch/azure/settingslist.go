package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// The settings of several values. Karpenter has them with commas between; the ConfigMap of 2023 had them as JSON.

// list reads items with commas between.
func list(v string) []string {
	var items []string
	for item := range strings.SplitSeq(v, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// parseIdentities reads identities: with commas between, or as a list in JSON.
func parseIdentities(v string) ([]string, error) {
	if !strings.HasPrefix(strings.TrimSpace(v), "[") {
		return list(v), nil
	}
	var all []string
	if json.Unmarshal([]byte(v), &all) != nil || slices.Contains(all, "") {
		return nil, errors.New(`want identities with commas between, or a list in JSON such as ["ID","ID"]`)
	}
	return all, nil
}

func identityList(v string) string {
	all, err := parseIdentities(v)
	if err != nil {
		return err.Error()
	}
	for _, id := range all {
		if strings.ContainsAny(id, `[]"' `) || oneLine(id) != "" {
			return "has an identity that is none: want the ID of a resource, without quotes, brackets and blanks"
		}
	}
	return ""
}

// parseTags reads tags: KEY=VALUE with commas between, or a map in JSON. No name may be there twice.
func parseTags(v string) (map[string]string, error) {
	tags := make(map[string]string)
	if strings.HasPrefix(strings.TrimSpace(v), "{") {
		tree, err := document.Parse([]byte(v))
		if err != nil {
			return nil, fmt.Errorf("is no map in JSON: %w", err)
		}
		for i := range tree.Fields {
			f := &tree.Fields[i]
			if f.Value.Kind != document.String {
				return nil, fmt.Errorf("has the tag %q, whose value is %s; want a string", f.Name, f.Value.Kind)
			}
			tags[f.Name] = f.Value.Text // names are unique there
		}
		return tags, nil
	}
	for _, item := range list(v) {
		key, value, found := strings.Cut(item, "=")
		if !found || key == "" {
			return nil, errors.New("want tags such as team=blue,cost=42")
		}
		if _, twice := tags[key]; twice {
			return nil, fmt.Errorf("has the tag %q twice", key)
		}
		tags[key] = value
	}
	return tags, nil
}

// tagList checks tags as Azure takes them. Karpenter makes a slash in a name another character where a class has one, and refuses
// it in an option (Karpenter for Azure: options, additional-tags).
func tagList(v string) string {
	tags, err := parseTags(v)
	if err != nil {
		return err.Error()
	}
	p := new(problems)
	p.tags("$", tags)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if strings.Contains(key, "/") {
			p.wrong(field("$", key), "has a slash in its name, which Azure refuses; use another character")
		}
	}
	if len(p.List) == 0 {
		return ""
	}
	reasons := make([]string, len(p.List))
	for i, found := range p.List {
		reasons[i] = found.Path[1:] + " " + found.Reason
	}
	return "has tags that are wrong: " + strings.Join(reasons, "; ")
}
