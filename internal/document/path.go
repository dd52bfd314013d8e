package document

// Path is the position of a walk through a document. It builds the path only if the caller needs it, which is when there is a
// fault.
type Path struct{ steps []pathStep }

// pathStep is a step to an entry of a map, or to an item of a list if its index is not negative.
type pathStep struct {
	name  string
	index int
}

// Enter goes to an entry of a map.
func (p *Path) Enter(name string) { p.enter(pathStep{name, -1}) }

// EnterItem goes to an item of a list.
func (p *Path) EnterItem(i int) { p.enter(pathStep{index: i}) }

// usualDepth is deeper than usual documents.
const usualDepth = 12

func (p *Path) enter(s pathStep) {
	if p.steps == nil {
		p.steps = make([]pathStep, 0, usualDepth)
	}
	p.steps = append(p.steps, s)
}

// Leave goes back by one step.
func (p *Path) Leave() { p.steps = p.steps[:len(p.steps)-1] }

// Depth is how many steps it is from the top.
func (p *Path) Depth() int { return len(p.steps) }

// String is the JSON path.
func (p *Path) String() string {
	path := "$"
	for _, s := range p.steps {
		if s.index >= 0 {
			path = IndexPath(path, s.index)
		} else {
			path = FieldPath(path, s.name)
		}
	}
	return path
}
