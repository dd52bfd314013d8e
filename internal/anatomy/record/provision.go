package record

import (
	"time"

	"github.com/slipway-dev/slipway/status"
)

// provisionTimes are the times in AKS's result, and their events. Each has a resolution of a second.
var provisionTimes = []struct {
	stage Stage
	event string
	text  func(status.CSEStatus) string
}{
	{CloudInit, "cloud-init local", func(s status.CSEStatus) string { return s.CloudInitLocalStartTime }},
	{CloudInit, "cloud-init network", func(s status.CSEStatus) string { return s.CloudInitStartTime }},
	{CloudInit, "cloud-init final", func(s status.CSEStatus) string { return s.CloudFinalStartTime }},
	{Systemd, "networkd", func(s status.CSEStatus) string { return s.NetworkdStartTime }},
	{GuestAgent, "guest agent exec", func(s status.CSEStatus) string { return s.GuestAgentStartTime }},
	{Extension, "provisioning script starts", func(s status.CSEStatus) string { return s.CSEStartTime }},
	{Kubelet, "kubelet exec", func(s status.CSEStatus) string { return s.BootDatapoints.KubeletStartTime }},
}

// provisionForms are the forms of these times: systemctl show's and date's, with English names.
var provisionForms = []string{"Mon 2006-01-02 15:04:05 MST", time.UnixDate, time.DateTime + " MST", time.RFC3339}

// parseProvision reads provision.json, which AKS's scripts and Slipway write.
func parseProvision(s *sink, data []byte) {
	result, err := status.ParseCSE(data)
	if err != nil {
		s.unread(0, len(data), "%v", err)
		return
	}
	at := func(text string) (int64, bool) {
		for _, form := range provisionForms {
			if t, err := time.Parse(form, text); err == nil && t.Year() >= 1970 {
				return t.UnixMicro(), true
			}
		}
		if text != "" {
			s.unread(0, len(text), "a time of an unknown form: %q", text)
		}
		return 0, false
	}
	kernel := result.KernelStartTime
	if kernel == "" {
		kernel = result.BootDatapoints.KernelStartTime
	}
	if us, ok := at(kernel); ok {
		s.pair(0, us, 1e6)
	}
	for _, e := range provisionTimes {
		if us, ok := at(e.text(result)); ok {
			s.event(Event{Stage: e.stage, Name: e.event, At: Wall(us, 1e6)})
		}
	}
	if code, err := result.Code(); err == nil {
		s.fact(Extension, "the provisioning ended with exit code %d after %s s", code, Clean(result.ExecDuration))
	}
	if result.Error != "" {
		s.fact(Extension, "its error is: %s", Clean(result.Error))
	}
	if result.SystemdSummary != "" {
		s.fact(Systemd, "systemd's summary: %s", Clean(result.SystemdSummary))
	}
}
