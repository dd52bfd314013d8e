// Package systemd is the machine's systemd, over D-Bus: jobs on units, their states, starts and journals, and how far the
// boot got. A lost connection is made again, and a job that was at work then is neither done twice nor left out.
//
// It is the only package that talks to D-Bus. It is connected only while systemd is asked or a job is waited for, because systemd
// sends all that changes to whoever is connected. It runs no program: whoever makes a [Manager] lends it journalctl. It decides nothing: internal/host hands on what internal/apply
// wants, internal/probe waits for a unit.
package systemd
