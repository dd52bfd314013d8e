package azure

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// The rules of settings. Each returns what is wrong with a value that is not empty, or "", and repeats nothing of it.

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
