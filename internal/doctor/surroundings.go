package doctor

// Surroundings are the machine's clock, network, cloud and cluster.
type Surroundings interface{}
