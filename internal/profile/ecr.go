package profile

// ImageProvider is a program from which the kubelet gets the credentials for images of the family's cloud (Kubernetes docs, Configure
// a kubelet image credential provider).
type ImageProvider struct {
	// Name is the program's.
	Name string
	// Since is the first minor version of Kubernetes whose kubelet needs it: those before know the cloud's registries themselves.
	Since int
	// Images are patterns of the names of its images.
	Images []ImagePattern
	// Holders are the images of machines that hold it, for people.
	Holders string
}

// ImagePattern is a pattern of images, and the first minor version of Kubernetes that needs credentials for them; 0 means any version.
type ImagePattern struct {
	Pattern string
	Since   int
}

// Patterns are those of a minor version.
func (p *ImageProvider) Patterns(minor int) (patterns []string) {
	for _, image := range p.Images {
		if image.Since <= minor {
			patterns = append(patterns, image.Pattern)
		}
	}
	return patterns
}

// ecr is the provider of Amazon's registries, with those of all partitions (Amazon EKS AMI: image-credential-provider). The code for them
// in the kubelet went with its cloud provider (kubernetes/kubernetes#115838).
var ecr = ImageProvider{
	Name:  "ecr-credential-provider",
	Since: 27,
	Images: []ImagePattern{
		{"*.dkr.ecr.*.amazonaws.com", 0},
		{"*.dkr-ecr.*.on.aws", 0},
		{"*.dkr.ecr.*.amazonaws.com.cn", 0},
		{"*.dkr-ecr.*.on.amazonwebservices.com.cn", 0},
		{"*.dkr.ecr-fips.*.amazonaws.com", 0},
		{"*.dkr-ecr-fips.*.on.aws", 0},
		{"*.dkr.ecr.*.c2s.ic.gov", 0},
		{"*.dkr.ecr.*.sc2s.sgov.gov", 0},
		{"*.dkr.ecr.*.cloud.adc-e.uk", 0},
		{"*.dkr.ecr.*.csp.hci.ic.gov", 0},
		{"*.dkr.ecr.*.amazonaws.eu", 0},
		{"public.ecr.aws", 0},
		{"ecr-public.aws.com", 32},
	},
	Holders: "the images of EKS for Amazon Linux, and those of Canonical for EKS",
}
