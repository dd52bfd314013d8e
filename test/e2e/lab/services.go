package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

// cloudServices are the cloud's services, by their addresses.
func (l *Lab) cloudServices() map[string]http.Handler {
	return map[string]http.Handler{
		fakecloud.MetadataAddress + ":80":      l.byMachine((*fakecloud.Cloud).Metadata),
		fakecloud.WireServerAddress + ":80":    l.byMachine((*fakecloud.Cloud).WireServer),
		fakecloud.WireServerAddress + ":32526": l.byMachine((*fakecloud.Cloud).WireServer),
	}
}

// byMachine is a service of the cloud that identifies a machine by its address.
func (l *Lab) byMachine(service func(*fakecloud.Cloud) http.Handler) http.Handler {
	one := service(l.Cloud)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		address, _, _ := net.SplitHostPort(q.RemoteAddr)
		if beside, ok := l.besides.Load(address); ok {
			service(beside.(*fakecloud.Cloud)).ServeHTTP(w, q)
			return
		}
		one.ServeHTTP(w, q)
	})
}

// CloudOf returns the cloud's data for the machine at a place.
func (l *Lab) CloudOf(place int) *fakecloud.Cloud {
	if beside, ok := l.besides.Load(places[place].address); ok {
		return beside.(*fakecloud.Cloud)
	}
	return l.Cloud
}

// Alone makes the cloud forget the machines that ran beside another.
func (l *Lab) Alone() { l.besides.Clear() }

// CloudUp starts the cloud's services, unless they run.
func (l *Lab) CloudUp() error {
	l.servicesMu.Lock()
	defer l.servicesMu.Unlock()
	if len(l.services) > 0 {
		return nil
	}
	handlers := l.cloudServices()
	for _, address := range slices.Sorted(maps.Keys(handlers)) {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("serve the cloud's metadata: %w", err)
		}
		server := &http.Server{Handler: handlers[address]}
		go server.Serve(listener)
		l.services = append(l.services, server)
	}
	return nil
}

// CloudDown stops the cloud's services, for a time or until CloudUp is called: connections are refused.
func (l *Lab) CloudDown(ctx context.Context, lasting time.Duration) error {
	l.servicesMu.Lock()
	defer l.servicesMu.Unlock()
	var errs []error
	for _, server := range l.services {
		errs = append(errs, server.Close())
	}
	l.services = nil
	if l.revival != nil {
		l.revival.Stop()
	}
	l.revival = time.AfterFunc(lasting, func() {
		if ctx.Err() != nil {
			return
		}
		if err := l.CloudUp(); err != nil {
			l.Log.Error("the cloud's services do not come back", "error", err)
		}
	})
	return errors.Join(errs...)
}
