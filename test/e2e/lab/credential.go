package lab

import (
	"context"
	"encoding/base64"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// credentialName is the name of the systemd credential with a contract.
const credentialName = "slipway.contract"

// credential makes a machine that has no cloud. Its user data is a systemd credential in its firmware, and its host name is a
// kernel argument. https://systemd.io/CREDENTIALS/ describes it.
func (l *Lab) credential(_ context.Context, m Machine, g Guest) (Machine, error) {
	l.Cloud.SetInstance(fakecloud.Instance{})
	m.Firmware = []string{
		"-smbios", "type=1,manufacturer=QEMU,product=Standard PC,uuid=" + plainUUID(g.Number),
		"-smbios", "type=11,value=io.systemd.credential.binary:" + credentialName + "=" + base64.StdEncoding.EncodeToString(g.UserData),
	}
	m.KernelArgs += " systemd.hostname=" + g.Name
	return m, nil
}
