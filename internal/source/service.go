package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
)

// instancePatience is how long a machine's description is waited for that its user data has come without.
const instancePatience = 2 * time.Second

// readService asks the platform's metadata service for user data, and what it says of the machine.
func readService(ctx context.Context, s *Search) (Contract, error) {
	if s.Service == nil {
		return Contract{}, errAbsent
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := make(chan facts.Instance, 1)
	go func() {
		instance, _ := s.Service.Instance(ctx) // a machine without a description is one all the same
		said <- instance
	}()
	userData, err := s.Service.UserData(ctx)
	if err != nil {
		return Contract{}, notFound(err)
	}
	// Both are the same service's: what it says of the machine is there at about the same time.
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
	// URL is where user data is read from.
	URL() string
	// Fetch returns the machine's user data; its error is metadata.ErrNotFound where it has none.
	Fetch(ctx context.Context) ([]byte, error)
}

// UserData returns the contract that a metadata service has now: for whoever asks from time to time.
func UserData(ctx context.Context, service Fetcher) (Contract, error) {
	userData, err := service.Fetch(ctx)
	if err != nil {
		return Contract{Path: service.URL()}, notFound(err)
	}
	found, err := open(service.URL(), userData, facts.Instance{})
	found.Path = service.URL()
	return found, err
}

// notFound is the error of a metadata service in this package's words.
func notFound(err error) error {
	if errors.Is(err, metadata.ErrNotFound) {
		return none(err.Error())
	}
	return fmt.Errorf("user data cannot be read: %w", err)
}
