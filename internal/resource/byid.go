package resource

// ByID returns the plan's resources by their names.
func (p Plan) ByID() map[ID]Resource {
	m := make(map[ID]Resource, len(p.Resources))
	for _, r := range p.Resources {
		m[r.ID()] = r
	}
	return m
}
