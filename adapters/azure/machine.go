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

// Machine is one machine of a launch, or the machines of a scale set. Each method validates it first, and the error has all
// problems.
type Machine struct {
	// Launch is the launch that package launch has rendered, without a fatal problem.
	Launch *launch.Launch
	// Token is what the node joins with. It may be empty if [launch.Launch.NeedsToken] returns false.
	Token nodeconfig.Secret
	// Name is the name of the machine, its interface, its disk and its node: "aks-general-abcde". For a scale set it is the prefix
	// of its machines' names.
	Name string
	// BackendPools are the IDs of the load balancers' pools that the machine joins, in any order.
	BackendPools []string
	// Script is for an image of AKS without Slipway: the user data is the script of variables ([azure.Script]), and there is no
	// extension.
	Script bool
}

// mostName and mostPrefix limit the lengths of names on Linux: of a machine, and of a scale set, which appends six digits (Azure:
// naming rules, Microsoft.Compute).
const (
	mostName   = 64
	mostPrefix = mostName - 6
)

// nodeName matches names that both Azure and Kubernetes accept: the node has the machine's name (Kubernetes: object names, RFC
// 1123).
var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// checked is a validated machine, with the values that its models need.
type checked struct {
	*Machine
	document *launch.Document
	image    *armcompute.ImageReference
	zone     string
	// userData is base64, and contains the token.
	userData string
	// command is the extension's. Empty means no extension.
	command string
}

// needs are the values of a launch that every machine on Azure must have.
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

// cloud returns the launch's settings for Azure.
func cloud(d *launch.Document) *nodeconfig.Azure {
	return cmp.Or(d.Node.Cloud.Azure, new(nodeconfig.Azure))
}

// check validates the machine, with a limit for its name's length.
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

// render makes the user data and the extension's command. No error contains the token.
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

// zoneOf returns the number of the zone. The launch has it in the form of the node's label, with the region before it.
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

// id is the ID of a resource beside the machine: all are in the node resource group.
func (c *checked) id(kind, name string) *string {
	a := cloud(c.document)
	return new("/subscriptions/" + a.SubscriptionID + "/resourceGroups/" + a.ResourceGroup + "/providers/" + kind + "/" + name)
}

// copied copies a value of the launch for a model, so that a change of the model does not change the launch.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// pools are the backend pools in one order.
func (c *checked) pools() []string { return slices.Sorted(slices.Values(c.BackendPools)) }
