package azure_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/slipway-dev/slipway/adapters/azure"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Each row adds a defect to a valid machine. The error has all problems at once.
func TestBadMachines(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*sdk.Machine)
		want  []string
		alter func(*launch.Document)
	}{
		{"no launch", func(m *sdk.Machine) { m.Launch = nil }, []string{"there is no launch"}, nil},
		{"no name", func(m *sdk.Machine) { m.Name = "" }, []string{`the name ""`}, nil},
		{"capital letters", func(m *sdk.Machine) { m.Name = "aks-General" }, []string{`the name "aks-General"`}, nil},
		{"a name that is too long", func(m *sdk.Machine) { m.Name = strings.Repeat("a", 65) }, []string{"at most 64"}, nil},
		{"no token", func(m *sdk.Machine) { m.Token = nodeconfig.Secret{} }, []string{launch.ErrToken.Error()}, nil},
		{"no bootstrap token", func(m *sdk.Machine) { m.Token = nodeconfig.NewSecret("canary") }, []string{launch.ErrToken.Error()}, nil},
		{"no image", nil, []string{"$.machine.image.id: is not the ID of an image"}, func(d *launch.Document) { d.Machine.Image.ID = "" }},
		{"a marketplace image", nil, []string{"$.machine.image.id"}, func(d *launch.Document) { d.Machine.Image.ID = "Canonical:ubuntu:22.04:latest" }},
		{"no subnet", nil, []string{"$.machine.network.subnet: is not the ID of a subnet"}, func(d *launch.Document) { d.Machine.Network.Subnet = "" }},
		{"a zone of another region", nil, []string{`$.machine.zone: "westus-1" is not of the region`}, func(d *launch.Document) { d.Machine.Zone = "westus-1" }},
		{"no pool", func(m *sdk.Machine) { m.BackendPools = []string{"kubernetes"} }, []string{`the backend pool "kubernetes"`}, nil},
		{"nothing of the cloud, and a bad name", func(m *sdk.Machine) { m.Name = "-" }, []string{
			`the name "-"`, "$.machine.type.name: is missing", "$.machine.adminUser: is missing", "$.machine.sshPublicKey: is missing",
			"$.node.cloud.azure.location: is missing", "$.node.cloud.azure.subscriptionID: is missing", "$.node.cloud.azure.resourceGroup: is missing",
			"$.machine.network.subnet", "$.machine.image.id",
		}, func(d *launch.Document) { d.Node.Cloud.Azure, d.Machine = nil, launch.Machine{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var alter []func(*launch.Document)
			if c.alter != nil {
				alter = append(alter, c.alter)
			}
			m := machineOf(t, "linux", alter...)
			if c.spoil != nil {
				c.spoil(m)
			}
			_, first := m.VirtualMachine()
			_, second := m.Interface()
			_, third := m.Extension()
			for _, err := range []error{first, second, third} {
				if err == nil {
					t.Fatal("it is made")
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v\ndoes not say %q", err, want)
					}
				}
				if text := err.Error(); strings.Contains(text, "canary") || strings.Contains(text, "CANARY") {
					t.Errorf("a secret is in %v", err)
				}
			}
		})
	}
}

func TestBadScaleSets(t *testing.T) {
	m := machineOf(t, "linux")
	if _, err := m.ScaleSet(-1); err == nil || !strings.Contains(err.Error(), "-1 machines") {
		t.Errorf("-1 machines: %v", err)
	}
	m.Name = strings.Repeat("a", 59) // valid as a machine's name; for a scale set Azure appends six digits
	if _, err := m.VirtualMachine(); err != nil {
		t.Error(err)
	}
	if _, err := m.ScaleSet(1); err == nil || !strings.Contains(err.Error(), "at most 58") {
		t.Errorf("a prefix of 59: %v", err)
	}
}

// User data beyond Azure's limit is the typed error of package userdata.
func TestTooLarge(t *testing.T) {
	m := machineOf(t, "linux", func(d *launch.Document) {
		for i := range 9000 {
			d.Node.Kubelet.Labels[fmt.Sprintf("example.com/label-%d", i)] = fmt.Sprintf("%x", i*i*7919)
		}
	})
	_, err := m.VirtualMachine()
	if large, ok := errors.AsType[*userdata.TooLargeError](err); !ok || large.Size <= large.Limit {
		t.Errorf("%v, want that the user data is too large", err)
	}
}

// An image without Slipway gets the script of variables and no extension, because the extension's program is not on it.
func TestScript(t *testing.T) {
	m := machineOf(t, "linux")
	m.Script = true
	want, _, err := azure.Script(m.Launch, m.Token)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := m.VirtualMachine()
	if err != nil || *machine.Properties.OSProfile.CustomData != want {
		t.Errorf("the user data is not the script (%v)", err)
	}
	if extension, err := m.Extension(); extension != nil || err != nil {
		t.Errorf("there is an extension: %v, %v", extension, err)
	}
	set, err := m.ScaleSet(1)
	if err != nil || set.Properties.VirtualMachineProfile.ExtensionProfile != nil || *set.Properties.VirtualMachineProfile.OSProfile.CustomData != want {
		t.Errorf("the scale set has an extension, or other user data (%v)", err)
	}
}

// The prefix of an image's ID decides its field.
func TestImageReference(t *testing.T) {
	for id, want := range map[string]string{
		"/CommunityGalleries/g/images/i/versions/1.0.0":                                                     "communityGalleryImageId",
		"/communityGalleries/g/images/i/versions/1.0.0":                                                     "communityGalleryImageId",
		"/SharedGalleries/g/images/i/versions/1.0.0":                                                        "sharedGalleryImageId",
		"/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/galleries/g/images/i/versions/1.0.0": "id",
	} {
		m := machineOf(t, "linux", func(d *launch.Document) { d.Machine.Image.ID = id })
		machine, err := m.VirtualMachine()
		if err != nil {
			t.Fatal(err)
		}
		got := marshal(t, machine.Properties.StorageProfile.ImageReference)
		var fields map[string]string
		if err := json.Unmarshal(got, &fields); err != nil || len(fields) != 1 || fields[want] != id {
			t.Errorf("%s: %s, want it in %s", id, got, want)
		}
	}
}

// A disk that is encrypted with the user's own keys is so in both models; a machine without identities has none.
func TestEncryptionSet(t *testing.T) {
	const set = "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/diskEncryptionSets/keys"
	m := machineOf(t, "linux", func(d *launch.Document) { d.Machine.Disk.EncryptionSet, d.Machine.Identities = set, nil })
	machine, err := m.VirtualMachine()
	if err != nil || *machine.Properties.StorageProfile.OSDisk.ManagedDisk.DiskEncryptionSet.ID != set || machine.Identity != nil {
		t.Errorf("the machine has another disk, or an identity (%v)", err)
	}
	scaleSet, err := m.ScaleSet(1)
	if err != nil || *scaleSet.Properties.VirtualMachineProfile.StorageProfile.OSDisk.ManagedDisk.DiskEncryptionSet.ID != set || scaleSet.Identity != nil {
		t.Errorf("the scale set has another disk, or an identity (%v)", err)
	}
}

// Encryption at the host is set also for a launch that is not a trusted one.
func TestEncryptionAtHost(t *testing.T) {
	m := machineOf(t, "linux", func(d *launch.Document) { d.Machine.Security = launch.Security{EncryptionAtHost: new(true)} })
	machine, err := m.VirtualMachine()
	if err != nil {
		t.Fatal(err)
	}
	p := machine.Properties.SecurityProfile
	if p == nil || p.EncryptionAtHost == nil || !*p.EncryptionAtHost || p.SecurityType != nil || p.UefiSettings != nil {
		t.Errorf("the machine is protected by %s", marshal(t, p))
	}
}

// secretPlaces are the fields that contain a secret: the user data with the token, and the command that Azure protects.
var secretPlaces = map[string]string{
	"$.virtualMachine.properties.osProfile.customData":                                                                         "user data",
	"$.scaleSet.properties.virtualMachineProfile.osProfile.customData":                                                         "user data",
	"$.virtualMachine.properties.osProfile.linuxConfiguration.ssh.publicKeys[0].keyData":                                       "key",
	"$.scaleSet.properties.virtualMachineProfile.osProfile.linuxConfiguration.ssh.publicKeys[0].keyData":                       "key",
	"$.extension.properties.protectedSettings.commandToExecute":                                                                "command",
	"$.scaleSet.properties.virtualMachineProfile.extensionProfile.extensions[0].properties.protectedSettings.commandToExecute": "command",
}

// Token, key and command are in their fields, and nowhere else.
func TestSecretsHaveTheirPlaces(t *testing.T) {
	m := machineOf(t, "linux")
	userData, err := m.Launch.UserData(m.Token)
	if err != nil {
		t.Fatal(err)
	}
	contract, err := m.Launch.Contract(m.Token)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(contract.Document), token) {
		t.Fatal("the contract does not hold the token, so nothing would be found")
	}
	secrets := map[string]string{"user data": userData, "key": sshKey, "command": contract.CSE(), "token": token}
	found := make(map[string]string)
	walk("$", parse(t, marshal(t, modelsOf(t, m))), func(path, value string) {
		for name, secret := range secrets {
			if strings.Contains(value, secret) {
				found[path] = name
			}
		}
	})
	for path, name := range found {
		if secretPlaces[path] != name {
			t.Errorf("%s has the %s", path, name)
		}
	}
	for path, name := range secretPlaces {
		if found[path] != name {
			t.Errorf("%s has the %s, want the %s", path, found[path], name)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if text := fmt.Sprintf(verb, *m); strings.Contains(text, "canary") || strings.Contains(text, "CANARY") {
			t.Errorf("%s shows a secret: %s", verb, text)
		}
	}
}

// walk visits all strings of a document.
func walk(path string, n *document.Node, visit func(path, value string)) {
	if n.Kind == document.String {
		visit(path, n.Text)
	}
	for i := range n.Items {
		walk(document.IndexPath(path, i), &n.Items[i], visit)
	}
	for i := range n.Fields {
		visit(path, n.Fields[i].Name)
		walk(document.FieldPath(path, n.Fields[i].Name), &n.Fields[i].Value, visit)
	}
}

// launch/azure's placements of a disk are all placements of the SDK.
func TestPlacements(t *testing.T) {
	for name, want := range map[string]string{"linux": "CacheDisk", "nvme": "NvmeDisk"} {
		machine, err := machineOf(t, name).VirtualMachine()
		if err != nil {
			t.Fatal(err)
		}
		got := machine.Properties.StorageProfile.OSDisk.DiffDiskSettings.Placement
		if string(*got) != want || !slices.Contains(placements(), *got) {
			t.Errorf("%s: the disk is at %s, want %s", name, *got, want)
		}
	}
}
