package karpenter

// What the tests of the conversion need.
var (
	ClaimOf = claimOf
	PoolOf  = poolOf
)

// Document is the class as package launch/azure reads it.
func (c *NodeClass) Document() ([]byte, error) { return c.document() }
