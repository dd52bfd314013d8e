package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The Node's labels are read and changed with the kubelet's certificate, whose name is the Node's.
func TestReadAndLabelNode(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", time.Now().Add(time.Hour))
	labels := map[string]string{"kept": "1", "old": "x"}
	wanted := leaseServer(t, tls.RequestClientCert, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/nodes/node-1" || len(r.TLS.PeerCertificates) == 0 {
			http.Error(w, "another question", http.StatusTeapot)
			return
		}
		if r.Method == http.MethodPatch {
			var patch struct {
				Metadata struct{ Labels map[string]*string }
			}
			body, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(body, &patch); err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
				http.Error(w, "no patch", http.StatusUnsupportedMediaType)
				return
			}
			for key, value := range patch.Metadata.Labels {
				if delete(labels, key); value != nil {
					labels[key] = *value
				}
			}
		}
		text, _ := json.Marshal(labels)
		fmt.Fprintf(w, `{"kind":"Node","metadata":{"name":"node-1","labels":%s},"spec":{"taints":[{"key":"t","value":"x","effect":"NoSchedule"},{"key":"u","effect":"NoExecute"}]}}`, text)
	})
	read := files{currentPEM: certificate + key}.read
	value := "y"
	must(t, impatient().labelNode(t.Context(), wanted, read, map[string]*string{"new": &value, "old": nil}))
	node, err := impatient().readNode(t.Context(), wanted, read)
	must(t, err)
	if node.Name != "node-1" || !maps.Equal(node.Labels, map[string]string{"kept": "1", "new": "y"}) ||
		!maps.Equal(node.Taints, map[string]string{"t:NoSchedule": "x", "u:NoExecute": ""}) {
		t.Errorf("%+v", node)
	}
}

// A denied request is not repeated, and the error has the denial. A missing Node does not count as a Node without
// labels.
func TestNodeIsRefused(t *testing.T) {
	certificate, key := kubeletPEM(t, "system:node:node-1", time.Now().Add(time.Hour))
	read := files{currentPEM: certificate + key}.read
	for status, cause := range map[int]resource.Cause{
		http.StatusForbidden: resource.CauseForbidden, http.StatusUnauthorized: resource.CauseCredential, http.StatusNotFound: resource.CauseMissing, http.StatusOK: resource.CauseContent,
	} {
		asked := 0
		wanted := leaseServer(t, tls.RequestClientCert, func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(status) })
		_, err := impatient().readNode(t.Context(), wanted, read)
		if failed, ok := errors.AsType[*apply.CheckError](err); !ok || failed.Cause != cause || asked != 1 {
			t.Errorf("%d: read: %v, asked %d times", status, err, asked)
		}
		if status != http.StatusForbidden {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err = impatient().labelNode(ctx, wanted, read, map[string]*string{"a": nil})
		if failed, ok := errors.AsType[*apply.CheckError](err); !ok || failed.Cause != cause || asked != 2 {
			t.Errorf("%d: label: %v, asked %d times", status, err, asked)
		}
		cancel()
	}
}
