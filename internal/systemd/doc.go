// Package systemd is the machine's systemd, over D-Bus: jobs on units, their states, starts and journals, and the times
// of the boot. It restores a lost connection, and a job that was running then is neither done twice nor lost.
//
// It is the only package that uses D-Bus. It is connected only during a request or a job, because systemd sends all
// changes to every connection. It runs no program: the creator of a [Manager] passes it journalctl. It decides nothing:
// internal/host passes on internal/apply's changes, and internal/probe waits for a unit.
// wants, internal/probe waits for a unit.
package systemd
