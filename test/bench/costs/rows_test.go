package costs

// module is a benchmark's location: a directory of the repository with a go.mod, and a package in it.
type module struct{ dir, pkg string }

var (
	contracts = module{".", "./test/bench"}
	launches  = module{".", "./launch"}
	karpenter = module{"adapters/karpenter", "."}
)

// row is one line of a table.
type row struct {
	what string
	// limit is the project's limit, as the table shows it. Empty means that it has no limit.
	limit string
	// benchmark is the benchmark's name, with the names of its parts, in its module.
	module    module
	benchmark string
	// varies is true if the number of allocations differs between runs, or a run takes long: then the test does not compare it.
	varies bool
}

// table is the figures between two markers of a document.
type table struct {
	page, name string
	rows       []row
}

var tables = []table{
	{page: "docs/costs.md", name: "contract", rows: []row{
		{what: "decode, translate, default and validate a contract", module: contracts, benchmark: "Decode"},
		{what: "plan a node, with all problems in the author's terms", module: contracts, benchmark: "Plan"},
		{what: "decode and plan", module: contracts, benchmark: "DecodeAndPlan"},
		{what: "digest of a config", module: contracts, benchmark: "Digest"},
		{what: "render custom data", module: contracts, benchmark: "Render"},
		{what: "provision a node, on the disk of the temporary files", module: contracts, benchmark: "Provision", varies: true},
		{what: "copy the files of that node, without a sync or a record", module: contracts, benchmark: "PlainWrite", varies: true},
		{what: "provision a node that is right already, contract to result", module: contracts, benchmark: "Reapply", varies: true},
		{what: "apply a contract that the node has already", module: contracts, benchmark: "ApplyUnchanged", varies: true},
	}},
	{page: "docs/costs.md", name: "agentless", rows: []row{
		{what: "decode the ClusterConfig and plan a node of one group", module: contracts, benchmark: "ClusterConfig"},
		{what: "the plan as an agentless cloud-config", module: contracts, benchmark: "Agentless"},
		{what: "compare a node's tree with its bundle", module: contracts, benchmark: "Verify"},
		{what: "pods and reserves of one instance type", module: contracts, benchmark: "Capacity"},
	}},
	{page: "docs/launch.md", name: "launch", rows: []row{
		{what: "merge seven layers and decide, cold", limit: "1 ms, 550 allocations", module: launches, benchmark: "Render"},
		{what: "the same, with the source of each value", limit: "1 ms", module: launches, benchmark: "Explain"},
		{what: "record of a new launch", module: launches, benchmark: "Record"},
		{what: "a new launch, its first user data and its record, together", limit: "1 ms", module: launches, benchmark: "First"},
		{what: "user data of a known launch, with the machine's token", limit: "5 µs, 4 allocations", module: launches, benchmark: "UserData"},
		{what: "key of a known launch", limit: "2 µs, 2 allocations", module: launches, benchmark: "Key"},
		{what: "user data of 100,000 nodes of 20 pools", limit: "2 s", module: launches, benchmark: "FleetUserData", varies: true},
		{what: "a round of Karpenter's adapter over 100,000 claims, of which 1 % differ", limit: "2 s", module: karpenter, benchmark: "Round/one_in_100_differs", varies: true},
		{what: "an image chosen among 10,000 versions", limit: "2 ms", module: launches, benchmark: "Choose/first"},
		{what: "the same again", limit: "20 µs", module: launches, benchmark: "Choose/again"},
	}},
}
