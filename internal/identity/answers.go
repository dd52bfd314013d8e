package identity

import (
	"encoding/json"
	"log/slog"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/state"
)

// Authorities are the certificate authorities that the machine's cloud has last said it is to trust, nil where it has never
// been asked, or the record cannot be read.
func Authorities(host Host) *facts.Authorities {
	return recorded[facts.Authorities](host, state.Authorities)
}

// recordAuthorities records them for a boot at which the cloud does not answer. What cannot be recorded is missing only then.
func (m Machine) recordAuthorities(host Host, log *slog.Logger) {
	if err := writeAuthorities(host, m.Facts.Authorities); err != nil {
		log.Warn("cannot record the cloud's certificate authorities; a boot without its answer does not trust them", "path", state.Authorities.Path, "error", err)
	}
}

// writeAuthorities writes what the cloud has said. Where it has said nothing, the last record stays, and only what is left
// of a run that died while it wrote goes.
func writeAuthorities(host Host, said *facts.Authorities) error {
	if said == nil || said.Unanswered && len(said.Certificates) == 0 {
		return host.Unstage(state.Authorities.Path)
	}
	return state.Authorities.WriteJSON(host, facts.Authorities{Certificates: said.Certificates})
}

// KubeletDefaults is what the node's cluster has answered when it was asked; nil if it was never asked, or the record cannot be
// read. The answer is recorded for the plans that are made later: the cluster may refuse a token that has expired.
func KubeletDefaults(host Host) *facts.KubeletDefaults {
	return recorded[facts.KubeletDefaults](host, state.KubeletDefaults)
}

// recorded is the value that a file holds as JSON; nil if no value can be read.
func recorded[T any](host Host, file state.File) *T {
	data, err := file.Read(host)
	if err != nil {
		return nil
	}
	value := new(T)
	if json.Unmarshal(data, value) != nil {
		return nil
	}
	return value
}
