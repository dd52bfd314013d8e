package main

import (
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// defaultBeat is how often a watcher reports that it is alive if systemd sets no interval.
const defaultBeat = time.Minute

// supervisor is systemd, which gets the service's state by sd_notify(3). If systemd did not start this program, it does
// nothing.
type supervisor struct {
	log  *slog.Logger
	beat time.Duration
}

func newSupervisor(log *slog.Logger) *supervisor {
	s := &supervisor{log: log, beat: defaultBeat}
	// Half of the requested interval, as sd_watchdog_enabled(3) recommends.
	if interval, err := daemon.SdWatchdogEnabled(false); err != nil {
		log.Warn("cannot read the watchdog's interval", "error", err)
	} else if interval > 0 {
		s.beat = interval / 2
	}
	return s
}

// Ready implements watch.Supervisor.
func (s *supervisor) Ready() { s.notify(daemon.SdNotifyReady) }

// Status implements watch.Supervisor.
func (s *supervisor) Status(text string) { s.notify("STATUS=" + text) }

// Alive implements watch.Supervisor.
func (s *supervisor) Alive() { s.notify(daemon.SdNotifyWatchdog) }

// Stopping implements watch.Supervisor.
func (s *supervisor) Stopping() { s.notify(daemon.SdNotifyStopping) }

func (s *supervisor) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Warn("cannot notify systemd", "state", state, "error", err)
	}
}
