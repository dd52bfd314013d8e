package metadata_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const (
	identity = "11111111-1111-1111-1111-111111111111"
	audience = "https://containerregistry.azure.net"
)

// A token is for this identity and this audience. A refusal is not retried.
func TestIdentityToken(t *testing.T) {
	cloud := fakecloud.New(fakecloud.Instance{AccessToken: canary, Identity: identity, Audiences: []string{audience}})
	service := asked(t, "azure", cloud.Metadata())
	if got, err := service.IdentityToken(t.Context(), audience, identity); err != nil || got != canary {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range [][2]string{{"https://vault.azure.net", identity}, {audience, "other"}, {"a&client_id=b", "c d#"}} {
		got, err := service.IdentityToken(t.Context(), wrong[0], wrong[1])
		var failed *metadata.Error
		if got != "" || !errors.As(err, &failed) || failed.Kind != metadata.Status || failed.Attempts != 1 || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %q, %v", wrong, got, err)
		}
	}
	if got, err := asked(t, "ec2", cloud.Metadata()).IdentityToken(t.Context(), audience, identity); got != "" || !errors.Is(err, metadata.ErrNotFound) {
		t.Errorf("%q, %v", got, err)
	}
}

// An invalid token gives an error that does not show it, and a busy service is asked again.
func TestIdentityTokenFaults(t *testing.T) {
	for text, want := range map[string]metadata.Kind{
		"":                                    metadata.WrongType,
		canary:                                metadata.WrongType,
		`{"access_token":""}`:                 metadata.WrongType,
		`{"access_token":"` + canary + `\n"}`: metadata.WrongType,
		`{"token":"` + canary + `"}`:          metadata.WrongType,
		strings.Repeat("x", 64<<10+1):         metadata.TooLarge,
		`{"access_token":"` + canary + `","x":1}`: "",
	} {
		service := asked(t, "azure", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
		got, err := service.IdentityToken(t.Context(), audience, identity)
		var failed *metadata.Error
		if want == "" && (err != nil || got != canary) || want != "" && (!errors.As(err, &failed) || failed.Kind != want || strings.Contains(err.Error(), canary)) {
			t.Errorf("%.40q: %q, %v", text, got, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		cloud := fakecloud.New(fakecloud.Instance{AccessToken: canary, Identity: identity, Audiences: []string{audience}})
		misbehave(t, cloud, "status=429*2")
		if got, err := asked(t, "azure", cloud.Metadata()).IdentityToken(t.Context(), audience, identity); err != nil || got != canary {
			t.Errorf("%q, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		misbehave(t, cloud, "blackhole")
		if got, err := asked(t, "azure", cloud.Metadata()).IdentityToken(ctx, audience, identity); got != "" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v", got, err)
		}
	})
}
