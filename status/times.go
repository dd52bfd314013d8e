package status

import "time"

// SystemdTime is t as systemd prints its timestamps, in UTC: "Tue 2024-11-12 17:23:33 UTC". The zero
// time is empty, as systemd's is for a unit that never started.
func SystemdTime(t time.Time) string { return format(t, "Mon 2006-01-02 15:04:05 MST") }

// DateTime is t as date(1) prints it, in UTC: "Tue Nov 12 17:24:06 UTC 2024". The zero time is empty.
func DateTime(t time.Time) string { return format(t, time.UnixDate) }

func format(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}
