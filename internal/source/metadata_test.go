package source_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const canary = "canary-0c4e"

// served is a cloud's metadata, of a machine with the given user data.
func served(t *testing.T, name, userData string) (*source.Metadata, *fakecloud.Cloud) {
	t.Helper()
	cloud := fakecloud.New(fakecloud.Instance{Name: "node", ID: "i-0", Region: "us-east-1", UserData: []byte(userData)})
	return dialling(t, name, cloud.Metadata()), cloud
}

func dialling(t *testing.T, name string, handler http.Handler) *source.Metadata {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.CloseClientConnections) // a black hole holds its connection
	metadata, err := source.NewMetadata(name, func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != fakecloud.MetadataAddress+":80" {
			t.Errorf("%s is called", address)
		}
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	return metadata
}

func statuses(cloud *fakecloud.Cloud) (codes []int) {
	for _, r := range cloud.Requests() {
		codes = append(codes, r.Status)
	}
	return codes
}

func TestMetadata(t *testing.T) {
	for _, name := range source.Clouds() {
		metadata, cloud := served(t, name, "a: 1")
		for _, data := range []string{"a: 1", "a: 1", "a: 2"} {
			cloud.SetInstance(fakecloud.Instance{UserData: []byte(data)})
			got, err := metadata.Fetch(t.Context())
			if err != nil || string(got.Data) != data || !strings.HasPrefix(got.Path, "http://169.254.169.254/") {
				t.Errorf("%s: %q of %s, %v, want %q", name, got.Data, got.Path, err, data)
			}
		}
	}
	if _, err := source.NewMetadata("gce", nil); err == nil || !strings.Contains(err.Error(), "azure, ec2") {
		t.Error(err)
	}
}

// What the service says is unchanged is not sent again, and its token is kept.
func TestMetadataIsAskedForChanges(t *testing.T) {
	metadata, cloud := served(t, "ec2", "data")
	for range 3 {
		if got, err := metadata.Fetch(t.Context()); err != nil || string(got.Data) != "data" {
			t.Fatalf("%q, %v", got.Data, err)
		}
	}
	if got := statuses(cloud); !slices.Equal(got, []int{200, 200, 304, 304}) {
		t.Errorf("answers %d", got)
	}
}

// A service that is started again has forgotten its tokens.
func TestMetadataRenewsItsToken(t *testing.T) {
	metadata, cloud := served(t, "ec2", "data")
	if _, err := metadata.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cloud.Misbehave("ec2/latest/user-data status=401*1"); err != nil {
		t.Fatal(err)
	}
	if got, err := metadata.Fetch(t.Context()); err != nil || string(got.Data) != "data" {
		t.Errorf("%q, %v", got.Data, err)
	}
}

func TestMetadataFaults(t *testing.T) {
	for name, service := range map[string]string{"azure": "imds/metadata/", "ec2": "ec2/latest/user-data"} {
		for _, c := range []struct{ fault, data, want string }{
			{"status=404", canary, "no contract was found"},
			{"status=503", canary, "503 Service Unavailable"},
			{"status=301", canary, "301"},
			{"status=401", canary, "401"},
			{"status=304", canary, "304"},
			{"busy=1s", canary, "429"},
			{"truncated", canary, "EOF"},
			{"", "", "no contract was found"},
			{"", strings.Repeat("x", document.MaxBytes+1), "larger than the limit"},
		} {
			metadata, cloud := served(t, name, c.data)
			if c.fault != "" {
				if err := cloud.Misbehave(service + " " + c.fault); err != nil {
					t.Fatal(err)
				}
			}
			got, err := metadata.Fetch(t.Context())
			if (c.want == source.ErrNotFound.Error()) != errors.Is(err, source.ErrNotFound) {
				t.Errorf("%s, %s: %v", name, c.fault, err)
			}
			if err == nil || got.Data != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %q, %v, want %q", name, c.fault, got.Data, err, c.want)
			} else if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "xxx") {
				t.Errorf("%s, %s: the error holds data: %v", name, c.fault, err)
			}
		}
	}
}

// An answer that cannot be read, and one that never comes, are errors, and hold nothing up.
func TestMetadataThatMakesNoSense(t *testing.T) {
	azure, cloud := served(t, "azure", "data")
	ways := []string{"garbage", "blackhole"}
	for _, way := range ways {
		if err := cloud.Misbehave(way); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if got, err := azure.Fetch(ctx); err == nil {
			t.Errorf("%s: %q", way, got.Data)
		}
		cancel()
	}
	// A token that is no header's value would otherwise be sent back as one.
	ec2, cloud := served(t, "ec2", "data")
	if err := cloud.Misbehave("ec2/latest/api/token garbage"); err != nil {
		t.Fatal(err)
	}
	if _, err := ec2.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "get a token") {
		t.Error(err)
	}
}

// Whoever answers with another address is not followed there.
func TestMetadataIsNotSentOn(t *testing.T) {
	asked := 0
	metadata := dialling(t, "azure", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	if _, err := metadata.Fetch(t.Context()); err == nil || asked != 1 {
		t.Errorf("%d requests, %v", asked, err)
	}
}

// A proxy of the environment's is not asked.
func TestMetadataKnowsNoProxy(t *testing.T) {
	t.Setenv("http_proxy", "http://192.0.2.1:3128")
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	metadata, _ := served(t, "azure", "data")
	if _, err := metadata.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
}
