package lab

import (
	"encoding/base64"
	"fmt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// ec2UUID is the machine's, in its firmware; EC2's begin so, which is how a machine knows where it runs.
const ec2UUID = "ec2e2e00-0000-4000-8000-000000000001"

// EC2 makes a machine one of EC2's, whose metadata service knows it and hands out its user data, which is
// given in base64 as the cloud's API takes it.
func (l *Lab) EC2(m Machine, name, userData string) (Machine, error) {
	data, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		return m, fmt.Errorf("user data: %w", err)
	}
	m.Firmware = []string{"-smbios", "type=1,manufacturer=Amazon EC2,product=m5.large,serial=" + ec2UUID + ",uuid=" + ec2UUID}
	l.Cloud.SetInstance(fakecloud.Instance{
		Name: name, ID: "i-0123456789abcdef0", Type: "m5.large", Region: "us-east-1",
		MAC: NodeMAC, Address: NodeAddress, Prefix: prefix, UserData: data,
	})
	return m, nil
}
