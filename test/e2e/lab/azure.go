package lab

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// azureTag is the chassis asset tag by which a machine knows that it runs on Azure.
const azureTag = "7783-7084-3265-9085-8269-3286-77"

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

// The identity of the nodes, as contracts name it, and the audience of AKS's API servers.
const (
	identity   = "33333333-3333-3333-3333-333333333333"
	apiServers = "6dae42f8-4368-4678-94ff-3960e28e3630"
)

// azureUUID is a machine's UUID, in its firmware and in the cloud's metadata.
func azureUUID(number int) string { return fmt.Sprintf("6f5e4d3c-2b1a-4f5e-8d7c-%012d", number) }

// azure makes a machine an Azure machine: with metadata services that know it and, if it has user data, a settings disk with them
// as custom data.
func (l *Lab) azure(ctx context.Context, m Machine, g Guest) (Machine, error) {
	id := azureUUID(g.Number)
	m.Firmware = []string{
		"-smbios", "type=1,manufacturer=Microsoft Corporation,product=Virtual Machine,uuid=" + id,
		"-smbios", "type=3,manufacturer=Microsoft,asset=" + azureTag,
	}
	var secondary []fakecloud.Interface
	if m.Second {
		secondary = []fakecloud.Interface{{MAC: SecondMAC, Address: SecondAddress}}
	}
	cloud, address := l.Cloud, l.address
	if m.Place > 0 {
		cloud, address = fakecloud.New(fakecloud.Instance{}), places[m.Place].address
		l.besides.Store(address, cloud)
	}
	cloud.SetInstance(fakecloud.Instance{
		Name: g.Name, ID: id, Type: "Standard_D2s_v5", Region: "eastus",
		MAC: m.mac(), Address: address, Prefix: prefix, Secondary: secondary, UserData: g.Metadata, Tags: g.Tags,
		// The API server accepts it as a bootstrap token: the image's client requests a certificate with it. Isolated exchanges it.
		AccessToken: l.Token, Identity: identity, Audiences: []string{apiServers, registryAudience},
	})
	if g.UserData == nil {
		return m, nil
	}
	document, err := ovf(g)
	if err != nil {
		return m, err
	}
	m.Seed, err = seedDisk(ctx, m.Dir, seed{label: "rd_rdfe_stable", format: "-udf", files: map[string][]byte{"ovf-env.xml": document}})
	return m, err
}

// ovf is the document with which Azure gives a machine its settings.
func ovf(g Guest) ([]byte, error) {
	var host bytes.Buffer
	if err := xml.EscapeText(&host, []byte(g.Name)); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, ovfEnv, host.String(), base64.StdEncoding.EncodeToString(g.UserData)), nil
}
