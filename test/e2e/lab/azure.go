package lab

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// azureTag is the chassis asset tag by which a machine knows that it runs on Azure.
const azureTag = "7783-7084-3265-9085-8269-3286-77"

// azureID is the machine's, in its firmware and in the cloud's metadata.
const azureID = "6f5e4d3c-2b1a-4f5e-8d7c-9b8a7f6e5d4c"

// ovfEnv is the settings disk's only document. https://github.com/Azure/WALinuxAgent describes it.
const ovfEnv = `<?xml version="1.0" encoding="utf-8"?>
<Environment xmlns="http://schemas.dmtf.org/ovf/environment/1" xmlns:wa="http://schemas.microsoft.com/windowsazure">
  <wa:ProvisioningSection>
    <wa:Version>1.0</wa:Version>
    <LinuxProvisioningConfigurationSet xmlns="http://schemas.microsoft.com/windowsazure">
      <ConfigurationSetType>LinuxProvisioningConfiguration</ConfigurationSetType>
      <HostName>%s</HostName>
      <UserName>azureuser</UserName>
      <DisableSshPasswordAuthentication>true</DisableSshPasswordAuthentication>
      <CustomData>%s</CustomData>
    </LinuxProvisioningConfigurationSet>
  </wa:ProvisioningSection>
  <wa:PlatformSettingsSection>
    <wa:Version>1.0</wa:Version>
    <PlatformSettings xmlns="http://schemas.microsoft.com/windowsazure"><PreprovisionedVm>false</PreprovisionedVm></PlatformSettings>
  </wa:PlatformSettingsSection>
</Environment>
`

// Azure makes a machine one of Azure's: with metadata services that know it and, where there is custom
// data, in base64 as the cloud takes it, a settings disk that holds them.
func (l *Lab) Azure(ctx context.Context, m Machine, name, customData string) (Machine, error) {
	m.Firmware = []string{
		"-smbios", "type=1,manufacturer=Microsoft Corporation,product=Virtual Machine,uuid=" + azureID,
		"-smbios", "type=3,manufacturer=Microsoft,asset=" + azureTag,
	}
	l.Cloud.SetInstance(fakecloud.Instance{
		Name: name, ID: azureID, Type: "Standard_D2s_v5", Region: "eastus",
		MAC: NodeMAC, Address: NodeAddress, Prefix: prefix,
	})
	if customData == "" {
		return m, nil
	}
	var err error
	m.Seed, err = settingsDisk(ctx, m.Dir, name, customData)
	return m, err
}

// settingsDisk makes the disk by which Azure hands a machine its settings.
func settingsDisk(ctx context.Context, dir, name, customData string) (path string, err error) {
	tree := filepath.Join(dir, "seed")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(tree)
	var host, data bytes.Buffer
	if err := xml.EscapeText(&host, []byte(name)); err != nil {
		return "", err
	}
	if err := xml.EscapeText(&data, []byte(customData)); err != nil {
		return "", err
	}
	document := fmt.Sprintf(ovfEnv, host.String(), data.String())
	if err := os.WriteFile(filepath.Join(tree, "ovf-env.xml"), []byte(document), 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "seed.iso")
	out, err := exec.CommandContext(ctx, "genisoimage", "-quiet", "-udf", "-V", "rd_rdfe_stable", "-o", path, tree).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make the settings disk: %w: %s", err, out)
	}
	return path, nil
}
