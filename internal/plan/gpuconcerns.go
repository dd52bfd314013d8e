package plan

// gpuConcerns are all of this subject.
var gpuConcerns = []*concern{
	&gpu,
	&services,
}
