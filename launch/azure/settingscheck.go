package azure

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// guid is 32 hexadecimal digits in five groups (RFC 9562).
func guid(v string) string {
	groups := strings.Split(strings.ToLower(v), "-")
	lengths := []int{8, 4, 4, 4, 12}
	ok := len(groups) == len(lengths)
	for i := 0; ok && i < len(lengths); i++ {
		ok = len(groups[i]) == lengths[i] && strings.Trim(groups[i], "0123456789abcdef") == ""
	}
	if !ok {
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
	parts := strings.Split(v, "/")
	want := []string{"", "subscriptions", "*", "resourceGroups", "*", "providers", "Microsoft.Compute", "diskEncryptionSets", "*"}
	ok := len(parts) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = want[i] == "*" && isResourceName(parts[i]) || want[i] != "*" && strings.EqualFold(parts[i], want[i])
	}
	if !ok {
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

// provisionMode takes the one mode that a template is for.
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
