package lab

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// openStack makes a machine an OpenStack machine, with its settings on its configuration drive.
// https://docs.openstack.org/nova/latest/user/metadata.html describes it.
func (l *Lab) openStack(ctx context.Context, m Machine, g Guest) (Machine, error) {
	l.Cloud.SetInstance(fakecloud.Instance{})
	id := plainUUID(g.Number)
	m.Firmware = []string{"-smbios", "type=1,manufacturer=OpenStack Foundation,product=OpenStack Nova,uuid=" + id}
	metadata, err := json.Marshal(map[string]any{
		"uuid": id, "name": g.Name, "hostname": g.Name, "availability_zone": "nova", "launch_index": 0,
	})
	if err != nil {
		return m, fmt.Errorf("configuration drive: %w", err)
	}
	m.Seed, err = seedDisk(ctx, m.Dir, seed{label: "config-2", format: "-rational-rock -joliet", files: map[string][]byte{
		"openstack/latest/user_data":      g.UserData,
		"openstack/latest/meta_data.json": metadata,
	}})
	return m, err
}
