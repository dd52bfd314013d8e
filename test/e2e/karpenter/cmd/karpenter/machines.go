package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/adapters/karpenter"
)

// machines requests machines from the lab.
type machines struct{ client *http.Client }

var _ karpenter.Machines = (*machines)(nil)

// requestTime limits a request: the lab answers at once, and boots later.
const requestTime = time.Minute

// newMachines sends requests to a socket.
func newMachines(socket string) *machines {
	return &machines{&http.Client{Timeout: requestTime, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}}
}

// call sends a request, and decodes the answer if out is not nil.
func (m *machines) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		document, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(document)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, body)
	if err != nil {
		return err
	}
	answer, err := m.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		if answer.StatusCode == http.StatusNotFound {
			return fmt.Errorf("%w: %s", karpenter.ErrNotFound, strings.TrimSpace(string(text)))
		}
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, strings.TrimSpace(string(text)))
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// launchRequest is the request to start a machine, as the lab reads it.
type launchRequest struct {
	karpenter.Machine
	UserData string
}

func requestOf(l karpenter.Launch) launchRequest {
	m := l.Launch.Document().Machine
	return launchRequest{
		Machine: karpenter.Machine{
			Name: l.Name, Key: l.Launch.Key(), Type: m.Type.Name, Zone: m.Zone, CapacityType: m.CapacityType, Image: m.Image.ID,
		},
		UserData: l.UserData.Reveal(),
	}
}

// place is a machine's path.
func place(id string) string { return "/machines/" + url.PathEscape(path.Base(id)) }

// Start requests a machine.
func (m *machines) Start(ctx context.Context, l karpenter.Launch) (*karpenter.Machine, error) {
	started := new(karpenter.Machine)
	return started, m.call(ctx, http.MethodPost, "/machines", requestOf(l), started)
}

// Update changes a machine.
func (m *machines) Update(ctx context.Context, id string, l karpenter.Launch) error {
	return m.call(ctx, http.MethodPut, place(id), requestOf(l), nil)
}

// Stop stops a machine.
func (m *machines) Stop(ctx context.Context, id string) error {
	return m.call(ctx, http.MethodDelete, place(id), nil, nil)
}

// Get returns a machine.
func (m *machines) Get(ctx context.Context, id string) (*karpenter.Machine, error) {
	found := new(karpenter.Machine)
	return found, m.call(ctx, http.MethodGet, place(id), nil, found)
}

// List returns all machines.
func (m *machines) List(ctx context.Context) (list []karpenter.Machine, err error) {
	return list, m.call(ctx, http.MethodGet, "/machines", nil, &list)
}
