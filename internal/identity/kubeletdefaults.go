package identity

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/state"
)

// KubeletDefaults is what the node's cluster has answered when it was asked; nil if it was never asked, or the record cannot be
// read.
func KubeletDefaults(host Host) *facts.KubeletDefaults {
	data, err := state.KubeletDefaults.Read(host)
	if err != nil {
		return nil
	}
	last := new(facts.KubeletDefaults)
	if json.Unmarshal(data, last) != nil {
		return nil
	}
	return last
}

// RecordKubeletDefaults records an answer for the plans that are made later: the cluster may refuse a token that has expired.
func RecordKubeletDefaults(host Host, answer facts.KubeletDefaults) error {
	content, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}
	return state.KubeletDefaults.WriteOther(host, append(content, '\n'))
}
