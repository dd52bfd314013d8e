package source

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-dev/slipway/internal/facts"
)

// The paths of Azure's settings for a machine: a disk with one document, and the copies that its guest agent keeps
// (WALinuxAgent, "OVF environment").
const (
	ovfFile         = "ovf-env.xml"
	agentOVF        = "/var/lib/waagent/ovf-env.xml"
	agentCustomData = "/var/lib/waagent/CustomData"
)

// readOVF reads the disk that Azure attaches to a new machine.
func readOVF(_ context.Context, s *Search) (Contract, error) {
	where, contents, err := s.onDisk("", ovfFile)
	if err != nil {
		return Contract{}, err
	}
	return openOVF(where, contents[0])
}

// readGuestAgent reads the guest agent's copy: the document, or custom data alone.
func readGuestAgent(_ context.Context, s *Search) (Contract, error) {
	if s.Other {
		return Contract{}, errOther
	}
	var found Contract
	document, err := s.read(agentOVF, maxUserData)
	if err == nil {
		found, err = openOVF(agentOVF, document)
	}
	if !errors.Is(err, ErrNotFound) {
		return found, err
	}
	data, err := s.read(agentCustomData, maxUserData)
	if err != nil {
		return Contract{}, err
	}
	return open(agentCustomData, data, azureInstance(""))
}

// errOther means that a copy is not this machine's.
const errOther none = "belongs to another machine, which had this disk before"

func openOVF(where string, document []byte) (Contract, error) {
	settings, err := parseOVF(document)
	if err != nil {
		return Contract{}, fmt.Errorf("%s: %w", where, err)
	}
	if len(settings.customData) == 0 {
		return Contract{}, none(where + " has no custom data")
	}
	return open(where, settings.customData, azureInstance(settings.hostName))
}

// azureInstance is the machine's description on Azure's settings disk. Its ID is the firmware's UUID, which some
// kernels show with another byte order than the metadata service.
func azureInstance(hostName string) facts.Instance {
	return facts.Instance{Platform: facts.Azure, Hostname: facts.CleanHostname(hostName)}
}

// ovfSettings are the settings in an OVF environment that a node uses. The rest, such as a user's password, is not
// read.
type ovfSettings struct {
	hostName   string
	customData []byte
}

// maxDepth limits the nesting of an OVF environment; Azure's has five levels.
const maxDepth = 32

// The element path of the settings, by local names: their name spaces have changed with the schema's versions.
var (
	ovfHostName   = "Environment/ProvisioningSection/LinuxProvisioningConfigurationSet/HostName"
	ovfCustomData = "Environment/ProvisioningSection/LinuxProvisioningConfigurationSet/CustomData"
)

// parseOVF parses an OVF environment. Errors contain nothing of it.
func parseOVF(document []byte) (ovfSettings, error) {
	var settings ovfSettings
	decoder := xml.NewDecoder(bytes.NewReader(document))
	var way []string
	var text []byte
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) && len(way) == 0 && decoder.InputOffset() > 0 {
			return settings, nil
		}
		if err != nil {
			return settings, fmt.Errorf("is not a complete XML document, at byte %d", decoder.InputOffset())
		}
		switch token := token.(type) {
		case xml.StartElement:
			if way, text = append(way, token.Name.Local), nil; len(way) > maxDepth {
				return settings, fmt.Errorf("is nested deeper than %d levels", maxDepth)
			}
		case xml.CharData:
			text = append(text, token...)
		case xml.EndElement:
			if len(way) == 0 || way[len(way)-1] != token.Name.Local {
				return settings, fmt.Errorf("is not an XML document, at byte %d", decoder.InputOffset())
			}
			if err := settings.take(strings.Join(way, "/"), bytes.TrimSpace(text)); err != nil {
				return settings, err
			}
			way, text = way[:len(way)-1], nil
		case xml.Directive:
			return settings, errors.New("has a document type declaration, which Slipway does not read")
		}
	}
}

func (o *ovfSettings) take(way string, text []byte) error {
	switch way {
	case ovfHostName:
		o.hostName = string(text)
	case ovfCustomData:
		// Lines may be wrapped.
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		if err != nil {
			return errors.New("has custom data that is not base64")
		}
		o.customData = data
	}
	return nil
}
