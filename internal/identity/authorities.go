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
	data, err := state.Authorities.Read(host)
	if err != nil {
		return nil
	}
	last := new(facts.Authorities)
	if json.Unmarshal(data, last) != nil {
		return nil
	}
	return last
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
	content, err := json.MarshalIndent(facts.Authorities{Certificates: said.Certificates}, "", "  ")
	if err != nil {
		return err
	}
	return state.Authorities.WriteOther(host, append(content, '\n'))
}
