// Package systemd is the machine's systemd, over D-Bus: jobs on units, their states, starts and journals, and how far the
// boot got. A lost connection is made again, and a job that was at work then is neither done twice nor left out.
//
// It is the only package that talks to D-Bus. It refuses to ask systemd again and again where it can be told, and runs no
// program: whoever makes a [Manager] lends it journalctl. It decides nothing: internal/host hands on what internal/apply
// wants, internal/probe waits for a unit.
package systemd
