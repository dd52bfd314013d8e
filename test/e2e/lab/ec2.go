package lab

import (
	"context"
	"fmt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// ec2UUID is a machine's UUID in its firmware. EC2's begin with "ec2", by which a machine detects
// EC2.
func ec2UUID(number int) string { return fmt.Sprintf("ec2e2e00-0000-4000-8000-%012d", number) }

// ec2 makes a machine an EC2 machine, whose metadata service knows it and serves its user data.
func (l *Lab) ec2(_ context.Context, m Machine, g Guest) (Machine, error) {
	id := ec2UUID(g.Number)
	m.Firmware = []string{"-smbios", "type=1,manufacturer=Amazon EC2,product=m5.large,serial=" + id + ",uuid=" + id}
	l.Cloud.SetInstance(fakecloud.Instance{
		Name: g.Name, ID: fmt.Sprintf("i-%017d", g.Number), Type: "m5.large", Region: Region,
		MAC: NodeMAC, Address: l.address, Prefix: prefix, Role: nodeRole, UserData: g.UserData,
	})
	return m, nil
}
