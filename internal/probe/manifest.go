package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/signature"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// probeManifest requires an image's component manifest that has a digest, or a signature, and that can be read.
func probeManifest(files *rootfs.Tree, want *nodeconfig.ManifestRequirement) error {
	failed := func(at string, err error) error {
		return &apply.CheckError{Cause: resource.CauseContent, Endpoint: at, Err: err}
	}
	data, err := files.ReadFile(components.Path, components.MaxBytes)
	if err != nil {
		return failed(components.Path, errors.Unwrap(err))
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); want.SHA256 != "" && !strings.EqualFold(got, want.SHA256) {
		return failed(components.Path, otherDigest(got, want.SHA256))
	}
	if len(want.Signers) > 0 {
		signed, err := files.ReadFile(components.SignaturePath, signature.MaxBytes)
		if err != nil {
			return failed(components.SignaturePath, errors.Unwrap(err))
		}
		allowed, err := signature.ParseSigners([]byte(strings.Join(want.Signers, "\n")))
		if err == nil {
			_, err = signature.Verify(data, signed, components.SignedFor, allowed)
		}
		if err != nil {
			return failed(components.SignaturePath, err)
		}
	}
	if _, err = components.List(data); err != nil {
		return failed(components.Path, err)
	}
	return nil
}

// probeDigest requires a file with a digest.
func probeDigest(files *rootfs.Tree, want *resource.Digest) error {
	got, err := files.Digest(want.Path, components.MaxProgram)
	switch {
	case err != nil:
		err = errors.Unwrap(err)
	case !strings.EqualFold(got, want.SHA256):
		err = otherDigest(got, want.SHA256)
	default:
		return nil
	}
	return &apply.CheckError{Cause: resource.CauseContent, Endpoint: want.Path, Err: err}
}

func otherDigest(got, want string) error {
	return fmt.Errorf("has SHA-256 %s instead of %s", got, strings.ToLower(want))
}
