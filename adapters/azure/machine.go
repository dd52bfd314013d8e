package azure

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// Machine is one machine of a launch, or the machines of a scale set. Each method checks it first, and the error names all that
// is wrong.
type Machine struct {
	// Launch is what package launch has decided, without a fatal problem.
	Launch *launch.Launch
	// Token is what the node joins with; none is needed where [launch.Launch.NeedsToken] says so.
	Token nodeconfig.Secret
	// Name is that of the machine, its interface and its disk, and of the node: "aks-general-abcde". Of a scale set it is the
	// beginning of its machines' names.
	Name string
	// BackendPools are the load balancers' pools, by their IDs, that the machine is a member of. Their order does not matter.
	BackendPools []string
	// Script is for an image of AKS's without Slipway: the user data is the script of variables ([azure.Script]), and there is no
	// extension.
	Script bool
}

// mostName and mostPrefix are the lengths of names on Linux: of a machine, and of what a scale set adds six digits to (Azure:
// naming rules, Microsoft.Compute).
const (
	mostName   = 64
	mostPrefix = mostName - 6
)

// nodeName is what Azure and Kubernetes both take: the node has the machine's name (Kubernetes: object names, RFC 1123).
var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// checked is a machine that can be written: what its models need and the launch has.
type checked struct {
	*Machine
	document *launch.Document
	image    *armcompute.ImageReference
	zone     string
	// userData is base64, and holds the token.
	userData string
	// command is the extension's; empty for no extension.
	command string
}

// needs are the values of a launch that every machine on Azure has.
var needs = []struct {
	path  string
	value func(*launch.Document) string
}{
	{"$.machine.type.name", func(d *launch.Document) string { return d.Machine.Type.Name }},
	{"$.machine.adminUser", func(d *launch.Document) string { return d.Machine.AdminUser }},
	{"$.machine.sshPublicKey", func(d *launch.Document) string { return string(d.Machine.SSHPublicKey) }},
	{"$.node.cloud.azure.location", func(d *launch.Document) string { return cloud(d).Location }},
	{"$.node.cloud.azure.subscriptionID", func(d *launch.Document) string { return cloud(d).SubscriptionID }},
	{"$.node.cloud.azure.resourceGroup", func(d *launch.Document) string { return cloud(d).ResourceGroup }},
}

// cloud is what the launch says of Azure.
func cloud(d *launch.Document) *nodeconfig.Azure {
	return cmp.Or(d.Node.Cloud.Azure, new(nodeconfig.Azure))
}

// check returns the machine as it can be written, with a name of at most so many characters.
func (m *Machine) check(longest int) (*checked, error) {
	if m.Launch == nil {
		return nil, errors.New("there is no launch; launch.Render returns one")
	}
	c := &checked{Machine: m, document: m.Launch.Document()}
	var wrong []error
	add := func(err error) {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(m.Name) > longest || !nodeName.MatchString(m.Name) {
		add(fmt.Errorf("the name %q: want at most %d small letters, digits and -, a letter or digit first and last", m.Name, longest))
	}
	for _, pool := range m.BackendPools {
		if !strings.HasPrefix(pool, "/subscriptions/") {
			add(fmt.Errorf("the backend pool %q: want its ID, which begins with /subscriptions/", pool))
		}
	}
	for _, need := range needs {
		if need.value(c.document) == "" {
			add(fmt.Errorf("%s: is missing; the launch has a fatal problem", need.path))
		}
	}
	if _, err := azure.ParseSubnet(c.document.Machine.Network.Subnet); err != nil {
		add(fmt.Errorf("$.machine.network.subnet: %w", err))
	}
	var err error
	c.image, err = imageReference(c.document.Machine.Image.ID)
	add(err)
	c.zone, err = zoneOf(c.document)
	add(err)
	add(c.render())
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	return c, nil
}

// render makes the user data and the extension's command. No error of it has the token.
func (c *checked) render() error {
	if c.Script {
		data, _, err := azure.Script(c.Launch, c.Token)
		if err != nil {
			return fmt.Errorf("user data: %w", err)
		}
		c.userData = data
		return nil
	}
	data, err := c.Launch.UserData(c.Token)
	if err != nil {
		return fmt.Errorf("user data: %w", err)
	}
	c.userData, c.command = data, c.Launch.ExtensionCommand()
	return nil
}

// zoneOf is the number of the zone: the launch has it as nodes are labelled, with the region before it.
func zoneOf(d *launch.Document) (string, error) {
	if d.Machine.Zone == "" {
		return "", nil
	}
	region := strings.ToLower(cloud(d).Location) + "-"
	zone, ok := strings.CutPrefix(d.Machine.Zone, region)
	if !ok || zone == "" {
		return "", fmt.Errorf("$.machine.zone: %q is not of the region; want %sNUMBER", d.Machine.Zone, region)
	}
	return zone, nil
}

// location, tags and zones are the same in every model.
func (c *checked) location() *string { return new(cloud(c.document).Location) }

func (c *checked) tags() map[string]*string {
	tags := make(map[string]*string, len(c.document.Machine.Tags))
	for key, value := range c.document.Machine.Tags {
		tags[key] = new(value)
	}
	return tags
}

func (c *checked) zones() []*string {
	if c.zone == "" {
		return nil
	}
	return []*string{new(c.zone)}
}

// id is that of a resource beside the machine: all are in the node resource group.
func (c *checked) id(kind, name string) *string {
	a := cloud(c.document)
	return new("/subscriptions/" + a.SubscriptionID + "/resourceGroups/" + a.ResourceGroup + "/providers/" + kind + "/" + name)
}

// copied is a value of the launch for a model: a change of the model does not change the launch.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// pools are the backend pools in one order.
func (c *checked) pools() []string { return slices.Sorted(slices.Values(c.BackendPools)) }
