package azure_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldens are cases of package launch whose machines differ: in size, architecture and generation, disk, network, price, identity,
// protection, image.
var goldens = []string{
	"example", "linux", "arm64", "generation-1", "gpu", "nvme", "constrained", "spot", "trusted-launch", "azure-linux-fips",
	"node-subnet", "class-subnet", "managed-network", "pool-alone", "attested", "regional", "ultra-ssd",
}

// The models of whole machines. Package launch tests the content of the user data; this test only checks that it is in its field.
func TestGolden(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			m := machineOf(t, name)
			userData, err := m.Launch.UserData(m.Token)
			if err != nil {
				t.Fatal(err)
			}
			got := marshal(t, modelsOf(t, m))
			quoted := []byte(`"customData": "` + userData + `"`)
			if n := bytes.Count(got, quoted); n != 2 {
				t.Errorf("the user data is in %d fields customData, want 2: of the machine and of the scale set", n)
			}
			got = bytes.ReplaceAll(got, quoted, []byte(`"customData": "(user data)"`))
			golden := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); !bytes.Equal(got, want) {
				t.Errorf("%s differs; go test -update rewrites it:\n%s", golden, got)
			}
		})
	}
}

// The same template gives the same bytes, in any order of maps and lists.
func TestSameBytes(t *testing.T) {
	want := marshal(t, modelsOf(t, machineOf(t, "linux")))
	for range 5 {
		m := machineOf(t, "linux") // read and rendered again
		m.BackendPools[0], m.BackendPools[1] = m.BackendPools[1], m.BackendPools[0]
		for range 20 {
			if got := marshal(t, modelsOf(t, m)); !bytes.Equal(got, want) {
				t.Fatalf("the same template has other bytes:\n%s", got)
			}
		}
	}
}

// A model belongs to its caller: a change of it changes neither the template nor the next model.
func TestNothingIsShared(t *testing.T) {
	m := machineOf(t, "linux")
	key, want := m.Launch.Key(), marshal(t, modelsOf(t, m))
	machine, err := m.VirtualMachine()
	if err != nil {
		t.Fatal(err)
	}
	*machine.Tags["team"] = "red"
	*machine.Properties.StorageProfile.ImageReference.CommunityGalleryImageID = "another"
	*machine.Properties.OSProfile.AdminUsername = "mallory"
	nic, err := m.Interface()
	if err != nil {
		t.Fatal(err)
	}
	*nic.Properties.EnableAcceleratedNetworking = false
	if got := marshal(t, modelsOf(t, m)); !bytes.Equal(got, want) || m.Launch.Key() != key {
		t.Error("a change of a model has changed the template, or the next model")
	}
}

// An attested node has no token and needs none.
func TestWithoutToken(t *testing.T) {
	m := machineOf(t, "attested")
	with := marshal(t, modelsOf(t, m))
	m.Token = nodeconfig.Secret{}
	if without := marshal(t, modelsOf(t, m)); !bytes.Equal(with, without) {
		t.Error("a token is in the machine of a node that joins without one")
	}
}
