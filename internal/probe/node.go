package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
)

// ReadNode returns the labels and taints of this machine's Node. It uses the kubelet's certificate.
func (c Cluster) ReadNode(ctx context.Context, wanted *resource.LeaseRenewed) (*registration.Node, error) {
	return defaultProber.readNode(ctx, wanted, credentialsIn(c.Files))
}

func (p *prober) readNode(ctx context.Context, wanted *resource.LeaseRenewed, read func(path string) ([]byte, error)) (*registration.Node, error) {
	t, l, err := asKubelet(wanted, read, nodesPath)
	if err != nil {
		return nil, err
	}
	node := &registration.Node{Taints: make(map[string]string)}
	t.maxBody = maxNode + 1
	t.judge = func(t *target, a answer, address netip.AddrPort) *failure {
		refused := func(cause resource.Cause, format string, args ...any) *failure {
			return t.failed(asking, cause, address, fmt.Errorf(format, args...)).retryIf(mayPass(a.status))
		}
		var got struct {
			Kind     string
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Taints []struct{ Key, Value, Effect string }
			}
		}
		switch {
		case a.status == http.StatusUnauthorized:
			return refused(resource.CauseCredential, "the server refuses the kubelet's certificate (HTTP status 401)")
		case a.status == http.StatusForbidden:
			return refused(resource.CauseForbidden, "the kubelet may not read its Node %s (HTTP status 403)", l.node)
		case a.status == http.StatusNotFound:
			return refused(resource.CauseMissing, "there is no Node %s", l.node)
		case a.status != http.StatusOK:
			return refused(resource.CauseConnection, "the server answers with HTTP status %d", a.status)
		case len(a.body) > maxNode:
			return refused(resource.CauseContent, "the Node has more than %d bytes", maxNode)
		case json.Unmarshal(a.body, &got) != nil || got.Kind != "Node":
			return t.failed(asking, resource.CauseContent, address, errors.New("the answer is no Node")).retryIf(false)
		}
		node.Name, node.Labels = l.node, got.Metadata.Labels
		for _, taint := range got.Spec.Taints {
			node.Taints[taint.Key+":"+taint.Effect] = taint.Value
		}
		return nil
	}
	if err := p.try(ctx, t); err != nil {
		return nil, err
	}
	return node, nil
}

// LabelNode changes labels of this machine's Node with the kubelet's certificate. A label with a nil value is removed.
func (c Cluster) LabelNode(ctx context.Context, wanted *resource.LeaseRenewed, labels map[string]*string) error {
	return defaultProber.labelNode(ctx, wanted, credentialsIn(c.Files), labels)
}

func (p *prober) labelNode(ctx context.Context, wanted *resource.LeaseRenewed, read func(path string) ([]byte, error), labels map[string]*string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	t, _, err := asKubelet(wanted, read, nodesPath)
	if err != nil {
		return err
	}
	t.talk = p.patching(t, "label the node", body)
	return p.try(ctx, t)
}
