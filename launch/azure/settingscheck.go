package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The rules of settings. Each returns what is wrong with a value that is not empty, or "", and repeats nothing of it but
// the names of tags.

func oneLine(v string) string {
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "has a control character"
	}
	return ""
}

// plain is a name that can stand anywhere.
func plain(v string) string {
	if len(v) > 128 || !isResourceName(v) {
		return "want a name of letters, digits and - _ . ( )"
	}
	return ""
}

func resourceGroup(v string) string {
	if len(v) > 90 || !isResourceName(v) || strings.HasSuffix(v, ".") {
		return "want the name of a resource group: at most 90 letters, digits and - _ . ( ), and no dot at the end"
	}
	return ""
}

func absoluteURL(v string) string {
	u, err := url.Parse(v)
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return "want an absolute URL, such as https://HOST:443"
	}
	return ""
}

func subnetID(v string) string {
	if _, err := ParseSubnet(v); err != nil {
		return err.Error()
	}
	return ""
}

func address(v string) string {
	if _, err := netip.ParseAddr(v); err != nil {
		return "want an IP address"
	}
	return ""
}

func serviceRange(v string) string {
	for _, cidr := range list(v) {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			return "want a range, such as 10.0.0.0/16"
		}
	}
	return ""
}

// guidForm is 32 hexadecimal digits in five groups (RFC 9562).
var guidForm = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func guid(v string) string {
	if !guidForm.MatchString(v) {
		return "want a UUID"
	}
	return ""
}

func token(v string) string {
	if !nodeconfig.IsBootstrapToken(v) {
		return "is not a bootstrap token: want 6 and 16 small letters and digits, with a dot between"
	}
	return ""
}

func userName(v string) string {
	first := v[0] | 0x20
	if len(v) > 32 || first < 'a' || first > 'z' || strings.ContainsAny(v, ".()") || !isResourceName(v) {
		return "want at most 32 letters, digits, - and _, a letter first"
	}
	return ""
}

func clusterID(v string) string {
	if len(v) != clusterIDLength || strings.Trim(v, "0123456789") != "" {
		return "want eight digits"
	}
	return ""
}

func encryptionSet(v string) string {
	if _, ok := resourceID(v, "/subscriptions/*/resourceGroups/*/providers/Microsoft.Compute/diskEncryptionSets/*"); !ok {
		return "want the ID of a disk encryption set, /subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Compute/diskEncryptionSets/NAME"
	}
	return ""
}

func duration(v string) string {
	if d, err := time.ParseDuration(v); err != nil || d < 0 {
		return "want a duration such as 1s"
	}
	return ""
}

func batchSize(v string) string {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > 50 {
		return "want a number from 1 to 50"
	}
	return ""
}

func fraction(v string) string {
	if f, err := strconv.ParseFloat(v, 64); err != nil || !(f >= 0 && f < 1) {
		return "want a number from 0 to 1, such as 0.075"
	}
	return ""
}

func among(allowed ...string) func(string) string {
	return func(v string) string {
		if !slices.Contains(allowed, v) {
			return fmt.Sprintf("want one of %s", strings.Join(allowed, ", "))
		}
		return ""
	}
}

// provisionMode takes the one mode that a launch is for.
func provisionMode(v string) string {
	switch {
	case v == provisionModes[0]:
		return ""
	case v == provisionModes[1]:
		return noServer + "; use " + provisionModes[0]
	case slices.Contains(provisionModes, v):
		return noMachines + "; use " + provisionModes[0]
	}
	return among(provisionModes...)(v)
}

// unused takes nothing, for a reason.
func unused(reason string) func(string) string {
	return func(string) string { return "has no effect: " + reason + "; leave it out" }
}

// off takes false alone, for a reason.
func off(reason string) func(string) string {
	return func(v string) string {
		switch v {
		case "false":
			return ""
		case "true":
			return "has no effect: " + reason + "; use false"
		}
		return among("true", "false")(v)
	}
}

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
			return "has a malformed identity: want the ID of a resource, without quotes, brackets and blanks"
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
