package facts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The prefixes of OEM strings that are credentials (systemd, smbios-type-11(7)).
const (
	textCredential   = "io.systemd.credential:"
	binaryCredential = "io.systemd.credential.binary:"
)

// ErrCredential means that a credential exists but cannot be decoded.
var ErrCredential = errors.New("is not base64")

// Credential returns a credential by its name from a machine's OEM strings, and reports whether there is one. As in
// systemd, the first one counts. An error is an [ErrCredential] and has no part of the value, which may be a secret.
//
// The operator of the machine's hypervisor sets it. systemd accepts no such credentials on a confidential virtual
// machine, and a caller must not either.
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
