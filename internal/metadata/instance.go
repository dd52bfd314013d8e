package metadata

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
)

// describeAzure parses Azure's description of a machine. It ignores the user data and the keys that the document
// contains.
func describeAzure(data []byte) (facts.Instance, bool) {
	var d struct {
		Compute struct {
			VMID       string `json:"vmId"`
			Name       string `json:"name"`
			VMSize     string `json:"vmSize"`
			Location   string `json:"location"`
			Zone       string `json:"zone"`
			ResourceID string `json:"resourceId"`
			OSProfile  struct {
				ComputerName string `json:"computerName"`
			} `json:"osProfile"`
			Tags tagsList `json:"tagsList"`
		} `json:"compute"`
		Network struct {
			Interface []azureInterface `json:"interface"`
		} `json:"network"`
	}
	if !decode(data, &d) {
		return facts.Instance{}, false
	}
	c := &d.Compute
	name := facts.CleanHostname(c.OSProfile.ComputerName)
	if name == "" { // a machine that was made from a disk has no profile
		name = facts.CleanHostname(c.Name)
	}
	return facts.Instance{
		Platform: facts.Azure, ID: facts.CleanText(c.VMID), Hostname: name, Type: facts.CleanText(c.VMSize),
		Region: facts.CleanText(c.Location), Zone: facts.CleanText(c.Zone), ResourceID: facts.CleanText(c.ResourceID),
		Interfaces: azureInterfaces(d.Network.Interface), Tags: c.Tags.known(),
	}, true
}

// azureInterface is a network interface in Azure's document.
type azureInterface struct {
	MAC  string `json:"macAddress"`
	IPv6 struct {
		Addresses []json.RawMessage `json:"ipAddress"`
	} `json:"ipv6"`
}

// azureInterfaces returns the interfaces with a hardware address, each once, up to the limit for a machine.
func azureInterfaces(all []azureInterface) (kept []facts.InstanceInterface) {
	for _, i := range all[:min(len(all), facts.MaxInterfaces)] {
		mac, err := hex.DecodeString(i.MAC)
		if err != nil || len(mac) != 6 {
			continue
		}
		own := facts.InstanceInterface{MAC: net.HardwareAddr(mac).String(), IPv6: len(i.IPv6.Addresses) > 0}
		if !slices.ContainsFunc(kept, func(k facts.InstanceInterface) bool { return k.MAC == own.MAC }) {
			kept = append(kept, own)
		}
	}
	return kept
}

// tagsList are the tags that a machine's owner sets. The service's other form, one text with ";" between tags and ":"
// within, is ambiguous if a value has one of these.
type tagsList []struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// known are the tags that a plan depends on.
func (l tagsList) known() facts.Tags {
	tags := facts.Tags{Tagged: true}
	for _, t := range l {
		tags.Take(t.Name, t.Value)
	}
	return tags
}

// describeAzureTags parses the list alone.
func describeAzureTags(data []byte) (facts.Tags, bool) {
	var list tagsList
	if !decodeAs('[', data, &list) {
		return facts.Tags{}, false
	}
	return list.known(), true
}

// describeEC2 parses EC2's instance identity document, which has no name.
func describeEC2(data []byte) (facts.Instance, bool) {
	var d struct {
		InstanceID       string `json:"instanceId"`
		InstanceType     string `json:"instanceType"`
		Region           string `json:"region"`
		AvailabilityZone string `json:"availabilityZone"`
	}
	if !decode(data, &d) {
		return facts.Instance{}, false
	}
	return facts.Instance{
		Platform: facts.EC2, ID: facts.CleanText(d.InstanceID), Type: facts.CleanText(d.InstanceType),
		Region: facts.CleanText(d.Region), Zone: facts.CleanText(d.AvailabilityZone),
	}, true
}

// decode decodes an object into a struct, and reports whether it is an object. A member of the wrong type stays empty:
// encoding/json continues after it.
func decode(data []byte, into any) bool { return decodeAs('{', data, into) }

// decodeAs is decode for a document that begins with a certain character: an object or a list.
func decodeAs(begin byte, data []byte, into any) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte{begin}) {
		return false
	}
	err := json.Unmarshal(data, into)
	var mistyped *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mistyped)
}

// firstWord is the first of several names: if the DHCP options have more than one domain, EC2 has a name for each.
func firstWord(data []byte) string {
	for word := range strings.FieldsSeq(string(data)) {
		return word
	}
	return ""
}
