package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
)

// instancePatience is how long to wait for a machine's description after its user data.
const instancePatience = 2 * time.Second

// readService asks the platform's metadata service for user data, and for its description of the machine.
func readService(ctx context.Context, s *Search) (Contract, error) {
	if s.Service == nil {
		return Contract{}, errAbsent
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := make(chan facts.Instance, 1)
	go func() {
		instance, _ := s.Service.Instance(ctx) // a machine without a description works, too
		said <- instance
	}()
	userData, err := s.Service.UserData(ctx)
	if err != nil {
		return Contract{}, notFound(err)
	}
	// Both come from the same service, so the description comes at about the same time.
	within, stop := context.WithTimeout(ctx, instancePatience)
	defer stop()
	var instance facts.Instance
	select {
	case instance = <-said:
	case <-within.Done():
	}
	return open(s.Service.URL(), userData, instance)
}

// Fetcher is a metadata service that is asked once.
type Fetcher interface {
	// URL is the URL of user data.
	URL() string
	// Fetch returns the machine's user data. If it has none, the error is metadata.ErrNotFound.
	Fetch(ctx context.Context) ([]byte, error)
}

// UserData returns the present contract of a metadata service, for callers that ask from time to time.
func UserData(ctx context.Context, service Fetcher) (Contract, error) {
	userData, err := service.Fetch(ctx)
	if err != nil {
		return Contract{Path: service.URL()}, notFound(err)
	}
	found, err := open(service.URL(), userData, facts.Instance{})
	found.Path = service.URL()
	return found, err
}

// notFound converts a metadata service's error to this package's.
func notFound(err error) error {
	if errors.Is(err, metadata.ErrNotFound) {
		return none(err.Error())
	}
	return fmt.Errorf("user data cannot be read: %w", err)
}
