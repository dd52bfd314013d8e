package karpenter

// Exported for the tests of the conversion.
var (
	ClaimOf = claimOf
	PoolOf  = poolOf
)

// Document is the class as package launch/azure reads it.
func (c *NodeClass) Document() ([]byte, error) { return c.document() }
