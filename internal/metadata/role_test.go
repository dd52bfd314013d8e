package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// roles are the documents with credentials on EC2.
const roles = "/latest/meta-data/iam/security-credentials/"

func TestRoleHasCredentials(t *testing.T) {
	cloud := fakecloud.New(fakecloud.Instance{ID: "i-0", Region: "us-east-1", Role: "node@prod=1"})
	role, err := asked(t, "ec2", cloud.Metadata()).Role(t.Context())
	if err != nil || role.KeyID == "" || role.Key.IsZero() || role.Session.IsZero() || time.Until(role.Expires) < time.Hour || time.Since(role.At).Abs() > time.Minute {
		t.Errorf("%+v, %v", role, err)
	}
	if shown := fmt.Sprintf("%+v", role); strings.Contains(shown, role.Key.Reveal()) || strings.Contains(shown, role.Session.Reveal()) {
		t.Errorf("it shows its secrets: %s", shown)
	}
	if _, err := asked(t, "azure", cloud.Metadata()).Role(t.Context()); !errors.Is(err, metadata.ErrNotFound) {
		t.Errorf("Azure: %v", err)
	}
}

// Credentials that come late are awaited; any other fault is an error with its kind.
func TestRoleFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		kind  metadata.Kind
		least time.Duration
	}{
		{"ec2" + roles + " status=404*5", "", time.Second},
		{"ec2" + roles + "node status=404*5", "", time.Second},
		{"ec2" + roles + " status=404", metadata.NotFound, 30 * time.Second},
		{"ec2" + roles + " status=503*4", "", time.Second},
		{"down=10s", "", 10 * time.Second},
		{"blackhole", metadata.Timeout, time.Minute},
		{"status=401", metadata.Denied, 0},
		{"status=403", metadata.Denied, 0},
		{"ec2" + roles + " status=401", metadata.Denied, 0},
		{"ec2" + roles + " type=text/html", metadata.WrongType, 0},
		{"ec2" + roles + " garbage", metadata.WrongType, 0},
		{"ec2" + roles + "node garbage", metadata.WrongType, 0},
		{"ec2" + roles + "node type=text/html", metadata.WrongType, 0},
		{"ec2" + roles + "node large=1MB", metadata.TooLarge, 0},
		{"ec2" + roles + " redirect=http://192.0.2.1/", metadata.Redirect, 0},
	} {
		t.Run(c.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cloud := fakecloud.New(fakecloud.Instance{ID: "i-0", Region: "us-east-1", Role: "node"})
				misbehave(t, cloud, c.fault)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				role, err := asked(t, "ec2", cloud.Metadata()).Role(ctx)
				var failed *metadata.Error
				if errors.As(err, &failed); (err == nil) != (c.kind == "") || failed != nil && failed.Kind != c.kind || (role.KeyID == "") != (err != nil) {
					t.Errorf("%+v, %v", role, err)
				}
				if took := time.Since(begin); took < c.least {
					t.Errorf("it ends after %s", took)
				}
			})
		})
	}
}

// An incomplete document gives no credentials, and no error has a part of it.
func TestRoleDocuments(t *testing.T) {
	const whole = `"Code":"Success","AccessKeyId":"ASIA1","SecretAccessKey":"` + canary + `","Token":"` + canary + `","Expiration":"2026-11-27T12:00:00Z"`
	for _, c := range []struct {
		role, document string
		kind           metadata.Kind
	}{
		{"node", "{" + whole + "}", ""},
		{"node\n", "{" + whole + `,"AccountId":"1"}`, ""},
		{"", "", metadata.WrongType},
		{"a/../b", "", metadata.WrongType},
		{"<html>" + canary, "", metadata.WrongType},
		{strings.Repeat("a", 65), "", metadata.WrongType},
		{"node", "", metadata.WrongType},
		{"node", "null", metadata.WrongType},
		{"node", "{}", metadata.NotFound},
		{"node", strings.Replace("{"+whole+"}", "Success", "AssumeRoleUnauthorizedAccess", 1), metadata.NotFound},
		{"node", strings.Replace("{"+whole+"}", "AccessKeyId", "Other", 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", "SecretAccessKey", "Other", 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", "Token", "Other", 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", "ASIA1", `AS\nIA1`, 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", "Expiration", "Other", 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", "2026-11-27T12:00:00Z", canary, 1), metadata.WrongType},
		{"node", strings.Replace("{"+whole+"}", `"2026-11-27T12:00:00Z"`, "1", 1), metadata.WrongType},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := asked(t, "ec2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/latest/api/token":
					_, _ = io.WriteString(w, "token")
				case roles:
					w.Header().Set("Content-Type", "text/plain")
					_, _ = io.WriteString(w, c.role)
				default:
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, c.document)
				}
			}))
			role, err := service.Role(t.Context())
			var failed *metadata.Error
			if errors.As(err, &failed); (err == nil) != (c.kind == "") || failed != nil && (failed.Kind != c.kind || strings.Contains(err.Error(), canary)) {
				t.Errorf("%q, %q: %+v, %v", c.role, c.document, role, err)
			}
		})
	}
}
