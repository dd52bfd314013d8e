package plan

// joinConcerns are all of this subject.
var joinConcerns = []*concern{
	&apiServer,
	&attested,
	&attestedClient,
	&authority,
	&certificate,
	&credentials,
}
