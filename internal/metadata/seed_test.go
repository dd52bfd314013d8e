package metadata_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// seed serves a seed's documents.
func seed(w http.ResponseWriter, r *http.Request) {
	switch r.URL.String() {
	case "/a/user-data", "/a?name=user-data":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte(canary))
	case "/empty/user-data":
	case "/page/user-data":
		_, _ = w.Write([]byte("<html>" + canary))
	case "/large/user-data":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(make([]byte, metadata.MaxUserData+1))
	case "/elsewhere/user-data":
		http.Redirect(w, r, "/a/user-data", http.StatusFound)
	case "/secret/user-data":
		if user, password, ok := r.BasicAuth(); ok && user == "u" && password == "right" {
			_, _ = w.Write([]byte(canary))
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	default:
		http.NotFound(w, r)
	}
}

func TestFetchURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(seed))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		base, name string
		kind       metadata.Kind
	}{
		{"http://" + host + "/a/", "user-data", ""},
		{"http://" + host + "/a", "user-data", ""},
		{"http://" + host + "/a?name=", "user-data", ""},
		{"http://" + host + "/a/user-data", "", ""},
		{"http://u:right@" + host + "/secret/", "user-data", ""},
		{"http://u:" + canary + "@" + host + "/secret/", "user-data", metadata.Denied},
		{"http://" + host + "/a/", "meta-data", metadata.NotFound},
		{"http://" + host + "/empty/", "user-data", metadata.NotFound},
		{"http://" + host + "/page/", "user-data", metadata.WrongType},
		{"http://" + host + "/large/", "user-data", metadata.TooLarge},
		{"http://" + host + "/elsewhere/", "user-data", metadata.Redirect},
		{"https://" + host + "/a/", "user-data", metadata.WrongType},
		{"/var/lib/cloud/seed/", "user-data", metadata.WrongType},
		{"file:///etc/", "passwd", metadata.WrongType},
		{"http:///", "user-data", metadata.WrongType},
		{"http://u:" + canary + "@host:port/", "user-data", metadata.WrongType},
		{"http://" + host + "/\x00", "user-data", metadata.WrongType},
		{"", "", metadata.WrongType},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		data, err := metadata.FetchURL(ctx, c.base, c.name)
		cancel()
		if c.kind == "" {
			if err != nil || string(data) != canary {
				t.Errorf("%s, %s: %q, %v", c.base, c.name, data, err)
			}
			continue
		}
		var failed *metadata.Error
		if !errors.As(err, &failed) || failed.Kind != c.kind || data != nil {
			t.Errorf("%s, %s: %q, %v, want %s", c.base, c.name, data, err, c.kind)
		} else if strings.Contains(err.Error(), canary) || (c.kind == metadata.NotFound) != errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("%s, %s: %v", c.base, c.name, err)
		}
	}
}

// A server whose certificate cannot be verified is not trusted, and gets no second request.
func TestFetchURLVerifies(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(seed))
	server.Config.ErrorLog = discarded
	server.StartTLS()
	t.Cleanup(server.Close)
	var failed *metadata.Error
	_, err := metadata.FetchURL(t.Context(), server.URL+"/a/", "user-data")
	if !errors.As(err, &failed) || failed.Kind != metadata.Denied || failed.Attempts != 1 {
		t.Error(err)
	}
}

func TestFetchURLIsPatient(t *testing.T) {
	cloud := fakecloud.New(fakecloud.Instance{})
	misbehave(t, cloud, "down=150ms")
	server := httptest.NewServer(cloud.WireServer())
	t.Cleanup(server.Close)
	if data, err := metadata.FetchURL(t.Context(), server.URL+"/?comp=versions", ""); err != nil || len(data) == 0 {
		t.Errorf("%q, %v", data, err)
	}
}
