package plan

// azureConcerns are all of this subject.
var azureConcerns = []*concern{
	&azure,
	&customCloud,
}
