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
	said := m.Facts.Authorities
	if said == nil || said.Unanswered && len(said.Certificates) == 0 {
		return
	}
	content, err := json.MarshalIndent(facts.Authorities{Certificates: said.Certificates}, "", "  ")
	if err == nil {
		err = state.Authorities.WriteOther(host, append(content, '\n'))
	}
	if err != nil {
		log.Warn("cannot record the cloud's certificate authorities; a boot without its answer does not trust them", "path", state.Authorities.Path, "error", err)
	}
}
