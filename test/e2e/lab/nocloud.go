package lab

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// noCloud makes a machine that has no cloud. Its settings are on a disk labelled "cidata".
// https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html describes it.
func (l *Lab) noCloud(ctx context.Context, m Machine, g Guest) (Machine, error) {
	l.Cloud.SetInstance(fakecloud.Instance{})
	m.Firmware = []string{"-smbios", "type=1,manufacturer=QEMU,product=Standard PC,uuid=" + plainUUID(g.Number)}
	var err error
	m.Seed, err = seedDisk(ctx, m.Dir, seed{label: "cidata", format: "-rational-rock -joliet", files: map[string][]byte{
		"user-data": g.UserData,
		"meta-data": fmt.Appendf(nil, "instance-id: nocloud-%d\nlocal-hostname: %s\n", g.Number, g.Name),
	}})
	return m, err
}

// plainUUID is a machine's UUID in its firmware, which belongs to no cloud.
func plainUUID(number int) string { return fmt.Sprintf("0e2e0e2e-0000-4000-8000-%012d", number) }
