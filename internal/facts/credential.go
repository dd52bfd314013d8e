package facts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The OEM strings that are credentials, up to the name (systemd, smbios-type-11(7)).
const (
	textCredential   = "io.systemd.credential:"
	binaryCredential = "io.systemd.credential.binary:"
)

// ErrCredential is what is wrong with a credential that is there and cannot be decoded.
var ErrCredential = errors.New("is not base64")

// Credential returns the credential of that name among a machine's OEM strings, and whether there is one. As
// in systemd the first counts where there are several. An error is an [ErrCredential] and has no part of the
// value, which may be a secret.
//
// Whoever runs the machine's hypervisor has set it. systemd takes no such credentials on a confidential virtual
// machine, and no more should a caller.
func Credential(oem []string, name string) (value []byte, found bool, err error) {
	for _, text := range oem {
		if rest, ok := strings.CutPrefix(text, textCredential+name+"="); ok {
			return []byte(rest), true, nil
		}
		if rest, ok := strings.CutPrefix(text, binaryCredential+name+"="); ok {
			value, err := base64.StdEncoding.DecodeString(rest)
			if err != nil {
				return nil, true, fmt.Errorf("credential %s of the SMBIOS: %w", name, ErrCredential)
			}
			return value, true, nil
		}
	}
	return nil, false, nil
}
