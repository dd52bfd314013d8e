package identity

import (
	"encoding/json"
	"log/slog"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/state"
)

// Authorities are the certificate authorities in the last answer of the machine's cloud. It is nil if the cloud was
// never asked, or the record cannot be read.
func Authorities(host Host) *facts.Authorities {
	return recorded[facts.Authorities](host, state.Authorities)
}

// recordAuthorities records them for a boot at which the cloud does not answer. If that fails, they are missing only
// then.
func (m Machine) recordAuthorities(host Host, log *slog.Logger) {
	if err := writeAuthorities(host, m.Facts.Authorities); err != nil {
		log.Warn("cannot record the cloud's certificate authorities; a boot without its answer does not trust them", "path", state.Authorities.Path, "error", err)
	}
}

// writeAuthorities writes the cloud's answer. Without an answer, the last record stays, and only the partial file of a
// run that died while it wrote is removed.
func writeAuthorities(host Host, said *facts.Authorities) error {
	if said == nil || said.Unanswered && len(said.Certificates) == 0 {
		return host.Unstage(state.Authorities.Path)
	}
	return state.Authorities.WriteJSON(host, facts.Authorities{Certificates: said.Certificates})
}

// KubeletDefaults is the answer of the node's cluster. It is nil if the cluster was never asked, or the record cannot
// be read. It is recorded for later plans, because the cluster may reject an expired token.
func KubeletDefaults(host Host) *facts.KubeletDefaults {
	return recorded[facts.KubeletDefaults](host, state.KubeletDefaults)
}

// recorded is the value that a file holds as JSON, or nil if it cannot be read.
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
