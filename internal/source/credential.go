package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-dev/slipway/internal/facts"
)

// credentialName is the system credential that holds a contract (systemd: "System and Service Credentials").
const credentialName = "slipway.contract"

// credentialPath is where systemd puts the machine's credentials, unencrypted.
const credentialPath = "/run/credentials/@system/" + credentialName

// readCredential reads the credential from systemd, or from the firmware: a systemd before version 251 does not read it
// from there.
func readCredential(_ context.Context, s *Search) (Contract, error) {
	data, err := s.read(credentialPath, maxUserData)
	if err == nil {
		return open(credentialPath, data, facts.Instance{})
	}
	if !errors.Is(err, ErrNotFound) {
		return Contract{}, err
	}
	table, err := s.Machine.ReadFile(facts.SMBIOSTable, facts.MaxSMBIOSTable)
	if err != nil {
		return Contract{}, errAbsent // the machine has no such firmware
	}
	data, found, err := facts.Credential(facts.OEMStrings(table), credentialName)
	switch {
	case err != nil:
		return Contract{}, fmt.Errorf("the firmware's credential %s: %w", credentialName, err)
	case !found:
		return Contract{}, errAbsent
	}
	return open(facts.SMBIOSTable, data, facts.Instance{})
}
