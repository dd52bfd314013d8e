package plan

// machineConcerns are all of this subject.
var machineConcerns = []*concern{
	&machineFacts,
}
