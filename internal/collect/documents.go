package collect

import (
	"context"
	"errors"
	"io/fs"

	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// documents are the first files of the bundle: what Slipway knows of the node.
func (c *Collector) documents(held *holdings) (parts []part) {
	own := []Document{
		{Name: supportbundle.FactsName, Why: "the machine, as plans see it", Produce: func(context.Context) (any, error) { return held.facts, nil }},
		{Name: supportbundle.ContractName, Why: "what the node is to be", Produce: func(context.Context) (any, error) { return held.contract, held.contractErr }},
		{Name: supportbundle.StatusName, Why: "the result of the last run", Produce: c.status},
		{Name: supportbundle.GenerationsName, Why: "what was applied before, and how that ended", Produce: func(context.Context) (any, error) {
			if held.storeErr != nil {
				return nil, held.storeErr
			}
			return held.store.Entries(), nil
		}},
		{Name: supportbundle.PlanName, Why: "the plan of the current generation", Produce: held.plan},
	}
	for _, d := range append(own, c.Documents...) {
		p := produced(d.Name, d.Name, d.Produce)
		p.why, p.limit = d.Why, d.Limit
		parts = append(parts, p)
	}
	return parts
}

// status is the status of the last run, which is in memory if the disk was full.
func (c *Collector) status(context.Context) (any, error) {
	data, err := state.RunStatus.Read(c.Machine)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = state.Status.Read(c.Machine)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no provisioning has ended on this machine")
	}
	return data, err
}

// plan is the plan of the current generation. It shows no content of a secret file.
func (h *holdings) plan(context.Context) (any, error) {
	if h.storeErr != nil {
		return nil, h.storeErr
	}
	current, found := h.store.Current()
	if !found {
		return nil, errors.New("this machine has no generation")
	}
	return h.store.Plan(current.Number)
}
