// Package seal makes what a release is trusted by: its manifest's list of digests, the signatures of the list, and its provenance.
package seal

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/slipway-dev/slipway/internal/release"
)

// Key signs a release.
type Key struct {
	// File is a private key, or a public key whose private half an agent or a hardware token has.
	File string
	// Principal is its name in the list of allowed signers.
	Principal string
	public    ssh.PublicKey
}

// TestKeys writes two keys that anyone can make, because their seeds are here: a release that they have signed is for tests only. scratch is a
// directory.
func TestKeys(scratch string) ([]Key, error) {
	var keys []Key
	for i := range release.SignatureNames {
		principal := fmt.Sprintf("test-key-%d", i+1)
		seed := sha256.Sum256([]byte("slipway: " + principal + ", not for a release"))
		private := ed25519.NewKeyFromSeed(seed[:])
		block, err := ssh.MarshalPrivateKey(private, principal)
		if err != nil {
			return nil, err
		}
		public, err := ssh.NewPublicKey(private.Public())
		if err != nil {
			return nil, err
		}
		file := filepath.Join(scratch, principal)
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
		keys = append(keys, Key{File: file, Principal: principal, public: public})
	}
	return keys, nil
}

// Signers is a list of allowed signers with the test keys.
func Signers(keys []Key) []byte {
	var b bytes.Buffer
	for _, k := range keys {
		fmt.Fprintf(&b, "%s namespaces=%q %s", k.Principal, release.SignedFor, ssh.MarshalAuthorizedKey(k.public))
	}
	return b.Bytes()
}

// Sign signs a release's list in a directory with each key. ssh-keygen signs, so that a key can be in an agent or in hardware.
func Sign(ctx context.Context, dir string, keys []Key) error {
	list, err := os.ReadFile(filepath.Join(dir, release.SumsName))
	if err != nil {
		return err
	}
	if len(keys) != len(release.SignatureNames) {
		return fmt.Errorf("%d keys sign a release, not %d", len(release.SignatureNames), len(keys))
	}
	for i, key := range keys {
		cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-f", key.File, "-n", release.SignedFor)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(list), os.Stderr
		signature, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("ssh-keygen -Y sign -f %s: %w", key.File, err)
		}
		if err := os.WriteFile(filepath.Join(dir, release.SignatureNames[i]), signature, 0o644); err != nil {
			return err
		}
	}
	return nil
}
