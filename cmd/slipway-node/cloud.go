package main

import (
	"context"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/source"
)

var _ agent.Cloud = cloud{}

// cloud is the machine's cloud, over the network.
type cloud struct{}

// Service implements agent.Cloud.
func (cloud) Service(platform string) source.Service {
	service, err := metadata.New(platform, nil)
	if err != nil {
		return nil // no known service
	}
	return service
}

// Fetch implements agent.Cloud.
func (cloud) Fetch(ctx context.Context, base, name string) ([]byte, error) {
	return metadata.FetchURL(ctx, base, name)
}

// Authorities implements agent.Cloud.
func (cloud) Authorities(ctx context.Context, region string) (facts.Authorities, error) {
	return metadata.NewWireServer(nil).Authorities(ctx, region)
}

// ReportReady implements agent.Cloud.
func (cloud) ReportReady(ctx context.Context) error {
	return metadata.NewWireServer(nil).ReportReady(ctx)
}

// ReportFailure implements agent.Cloud.
func (cloud) ReportFailure(ctx context.Context, description string) error {
	return metadata.NewWireServer(nil).ReportFailure(ctx, description)
}
