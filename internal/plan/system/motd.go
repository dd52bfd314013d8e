package system

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/textfile"
	"github.com/slipway-dev/slipway/internal/resource"
)

// messageOfTheDay plans the text that a login shows.
var messageOfTheDay = concern.Concern{
	Name:  "message of the day",
	Reads: []string{"$.access.messageOfTheDay"},
	Plan:  planMessageOfTheDay,
}

const (
	motdFile = "/etc/motd"
	// motdScript is run, with others of the distribution's directory, for a message that depends on the moment (update-motd(5)).
	motdScript = "99-slipway-motd"
)

func planMessageOfTheDay(in *concern.Input, out *concern.Output) {
	text := in.Config.Access.MessageOfTheDay
	if text == "" {
		return
	}
	const reason = "who logs in reads it"
	out.File(resource.Base, motdFile, 0o644, textfile.Lines(text), concern.Sourced(reason, in.Family.Sources.Message))
	out.AskedBy("$.access.messageOfTheDay")
	if dir := in.Distro.Login.Scripts; dir != "" {
		out.File(resource.Base, dir+"/"+motdScript, 0o755, []byte("#!/bin/sh\nexec cat "+motdFile+"\n"), concern.Sourced(reason, in.Family.Sources.Message))
	}
}
