package source

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/metadata"
)

// machine is a directory that acts as a machine. The test decides when it gets an address.
type machine struct {
	*testing.T
	root string
	*host.Directory
	disks   chan struct{}
	address chan struct{}
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{T: t, root: t.TempDir(), disks: make(chan struct{}, 1), address: make(chan struct{})}
	dir, err := host.OpenDirectory(m.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	m.Directory = dir
	return m
}

func (m *machine) put(path, content string) {
	m.T.Helper()
	full := filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		m.Fatal(err)
	}
	// Like real programs that deliver a contract: no reader sees an incomplete file.
	whole := filepath.Join(m.root, "whole")
	if err := os.WriteFile(whole, []byte(content), 0o600); err != nil {
		m.Fatal(err)
	}
	if err := os.Rename(whole, full); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) WaitForDisk(ctx context.Context, _ []string) bool {
	select {
	case <-m.disks:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *machine) WaitForAddress(ctx context.Context, _ []string) bool {
	select {
	case <-m.address:
		return true
	case <-ctx.Done():
		return false
	}
}

// service is a metadata service.
type service struct {
	data     []byte
	err      error
	instance facts.Instance
	asked    atomic.Int32
	// slow makes it answer only when the caller gives up.
	slow bool
}

func (s *service) URL() string { return "http://169.254.169.254/user-data" }

func (s *service) UserData(ctx context.Context) ([]byte, error) {
	s.asked.Add(1)
	if s.slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.data == nil && s.err == nil {
		return nil, metadata.ErrNotFound
	}
	return s.data, s.err
}

func (s *service) Instance(context.Context) (facts.Instance, error) { return s.instance, nil }

// on is a search on a platform.
func (m *machine) on(platform string) *Search {
	return &Search{Machine: m, Facts: facts.Facts{Platform: platform, DMI: firmware[platform]}, Now: time.Now}
}

// firmware has the strings by which the platforms are recognized.
var firmware = map[string]facts.DMI{
	facts.Azure:     {ChassisAssetTag: "7783-7084-3265-9085-8269-3286-77"},
	facts.EC2:       {SysVendor: "Amazon EC2"},
	facts.OpenStack: {ProductName: "OpenStack Nova"},
	facts.NoCloud:   {ProductSerial: "ds=nocloud;s=http://10.0.0.1:8000/"},
	"":              {},
}

// ovf is Azure's settings document.
func ovf(name string, customData []byte) string {
	return `<?xml version="1.0" encoding="utf-8"?>
<ns0:Environment xmlns="http://schemas.dmtf.org/ovf/environment/1" xmlns:ns0="http://schemas.dmtf.org/ovf/environment/1" xmlns:ns1="http://schemas.microsoft.com/windowsazure">
  <ns1:ProvisioningSection>
    <ns1:Version>1.0</ns1:Version>
    <ns1:LinuxProvisioningConfigurationSet>
      <ns1:HostName>` + name + `</ns1:HostName>
      <ns1:UserPassword>canary-password</ns1:UserPassword>
      <ns1:CustomData>` + base64.StdEncoding.EncodeToString(customData) + `</ns1:CustomData>
    </ns1:LinuxProvisioningConfigurationSet>
  </ns1:ProvisioningSection>
</ns0:Environment>
`
}
