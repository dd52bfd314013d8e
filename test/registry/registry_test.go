package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/fetch"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
	emptyType    = "application/vnd.oci.empty.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
	repository   = "aks/packages/kubernetes/kubelet"
)

// kubelet is the file that a node wants, and other is for another kind of machine.
var kubelet, other = bytes.Repeat([]byte("kubelet for amd64\n"), 40_000), []byte("kubelet for arm64")

// filled is a server with an index for two platforms, by the tag v1, and one for only another platform, by arm64.
func filled(t *testing.T) *server {
	s := newServer(t)
	config := s.blob(repository, emptyType, []byte("{}"))
	index := func(tag string, platforms ...string) {
		var all []descriptor
		for _, architecture := range platforms {
			data := other
			if architecture == "amd64" {
				data = kubelet
			}
			layer := s.blob(repository, layerType, data)
			layer.Annotations = map[string]string{"org.opencontainers.image.title": "kubelet"}
			d := s.manifest(repository, "", manifestType, map[string]any{"config": config, "layers": []descriptor{layer}})
			d.Platform = map[string]string{"os": "linux", "architecture": architecture, "os.version": "ubuntu 24.04"}
			all = append(all, d)
		}
		s.manifest(repository, tag, indexType, map[string]any{"manifests": all})
	}
	index("v1", "arm64", "amd64")
	index("arm64", "arm64")
	return s
}

// wanted is a node's request for a tag.
func (s *server) wanted(tag string) fetch.Request {
	return fetch.Request{
		From:     []string{s.Host + "/" + repository + ":" + tag},
		Platform: fetch.Platform{OS: "linux", Architecture: "amd64", OSVersion: "ubuntu 24.04"},
		MaxBytes: 1 << 20,
	}
}

func (s *server) client(tenantID string) *fetch.Client {
	c := &fetch.Client{Transport: s.http.Client().Transport}
	c.Login = fetch.AzureLogin(c, fetch.AzureIdentity{
		ClientID: client, TenantID: tenantID,
		Token: func(context.Context, string, string) (string, error) { return access, nil },
	})
	return c
}

func file(t *testing.T, holds []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, holds, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A node with an identity gets its file, and continues a download that it has begun.
func TestIdentityGetsFile(t *testing.T) {
	s := filled(t)
	for _, actions := range [][]string{nil, {"read"}} {
		for _, held := range []int{0, 1, 64 << 10, len(kubelet) - 1, len(kubelet)} {
			s.Actions = actions
			into := file(t, kubelet[:held])
			got, err := s.client(tenant).Get(t.Context(), s.wanted("v1"), into)
			if err != nil || !got.Checked || got.Resumed != int64(held) || got.SHA256 != fmt.Sprintf("%x", sha256.Sum256(kubelet)) {
				t.Fatalf("%d: %+v, %v", held, got, err)
			}
			if data, err := os.ReadFile(into.Name()); err != nil || !bytes.Equal(data, kubelet) {
				t.Fatalf("%d: %d bytes, %v", held, len(data), err)
			}
		}
	}
}

// A registry that accepts every client needs no identity.
func TestEverybodyGetsFile(t *testing.T) {
	s := filled(t)
	s.Anonymous = true
	c := &fetch.Client{Transport: s.http.Client().Transport}
	if got, err := c.Get(t.Context(), s.wanted("v1"), file(t, nil)); err != nil || got.Bytes != int64(len(kubelet)) {
		t.Fatalf("%+v, %v", got, err)
	}
}

// If a registry does not have a file, or not for this node, the request ends at once, with the reason.
func TestRefusals(t *testing.T) {
	s := filled(t)
	for name, c := range map[string]struct {
		tag, tenant string
		actions     []string
		cause       fetch.Cause
		login       fetch.LoginCause
	}{
		"no such tag":                  {"v2", tenant, nil, fetch.NotFound, 0},
		"another architecture only":    {"arm64", tenant, nil, fetch.WrongContent, 0},
		"another tenant":               {"v1", "other", nil, fetch.Refused, fetch.RegistryRefused},
		"an identity that may not":     {"v1", tenant, []string{"push"}, fetch.Refused, fetch.RegistryRefused},
		"no identity":                  {"v1", "", nil, fetch.Refused, 0},
		"no identity, and no such tag": {"v2", "", nil, fetch.Refused, 0},
	} {
		s.Actions = c.actions
		_, err := s.client(c.tenant).Get(t.Context(), s.wanted(c.tag), file(t, nil))
		var failed *fetch.Error
		var login *fetch.LoginError
		if !errors.As(err, &failed) || failed.Cause != c.cause || errors.As(err, &login) != (c.login != 0) || login != nil && login.Cause != c.login {
			t.Errorf("%s: %v", name, err)
		}
	}
}
