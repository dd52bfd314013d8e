package plan

import (
	"github.com/slipway-dev/slipway/internal/resource"
)

// messageOfTheDay greets who logs in.
var messageOfTheDay = concern{
	name:  "message of the day",
	reads: []string{"$.access.messageOfTheDay"},
	plan:  planMessageOfTheDay,
}

const (
	motdFile = "/etc/motd"
	// motdScript is run, with others of the distribution's directory, for a message that depends on the moment (update-motd(5)).
	motdScript = "99-slipway-motd"
)

func planMessageOfTheDay(in *input, out *output) {
	text := in.config.Access.MessageOfTheDay
	if text == "" {
		return
	}
	const reason = "who logs in reads it"
	out.file(resource.Base, motdFile, 0o644, wholeLines(text), sourced(reason, in.family.Sources.Message))
	out.askedBy("$.access.messageOfTheDay")
	if dir := in.distro.Login.Scripts; dir != "" {
		out.file(resource.Base, dir+"/"+motdScript, 0o755, []byte("#!/bin/sh\nexec cat "+motdFile+"\n"), sourced(reason, in.family.Sources.Message))
	}
}
